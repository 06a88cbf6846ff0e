// JSON and Lua's tables. A table is a list if its keys are 1, 2, …; lists that hold nothing, or null, are marked when
// they are made from JSON, so that they become the same JSON again. Functions may raise Lua errors and must be called
// from within a protected call.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

struct lua_State;

namespace muster::script {

// JSON text as tables; pushes nil where it is none, and says why it is none. Null: it is.
const char* push_json(lua_State* state, std::string_view text);

// Appends the value at `index` as JSON. Raises an error for what JSON cannot hold.
void append_json(lua_State* state, int index, std::string& out, std::size_t depth);

// Makes the table on top of the stack a list of at least `length` values, whatever it holds.
void mark_list(lua_State* state, std::size_t length);

// How many values the list at `table`, a positive index, has; nothing if it is none. A table that holds nothing is none
// unless it was marked.
std::optional<std::size_t> list_length(lua_State* state, int table);

// Whether a number is written without a point.
bool whole(double number);
void append_number(std::string& out, double number);

}  // namespace muster::script
