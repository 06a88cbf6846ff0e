// Values between Lua and muster: run-time values, and tables as documents. Functions that push or read Lua
// values may raise Lua errors and must be called from within a protected call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "authoring/yaml_node.h"
#include "base/arena.h"
#include "base/error.h"
#include "model/value.h"

struct lua_State;

namespace muster::script {

// Pushes "file:line: " of the script's line that is being run; frames of muster's own are passed over.
void push_place(lua_State* state);

// Raises an error at that place. The format is that of lua_pushfstring.
int raise(lua_State* state, const char* format, ...);

// The text at `index`, valid while Lua holds it; empty for anything but texts and numbers.
std::string_view text_at(lua_State* state, int index);

// Missing and null become nil, JSON becomes tables.
void push(lua_State* state, const model::Value& value);

// The value at `index`; texts and tables (as JSON) are copied to `arena`. Raises an error for functions and the like;
// `what` names the value in it.
model::Value to_value(lua_State* state, int index, base::Arena& arena, const char* what);

// The value at `index` as a document; every place in it is `line`. Functions and the like are an error.
base::Expected<authoring::YamlNode> to_document(lua_State* state, int index, std::uint32_t line);

}  // namespace muster::script
