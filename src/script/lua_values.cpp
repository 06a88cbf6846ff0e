#include "script/lua_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <lua.hpp>
#include <vector>

#include "script/lua_json.h"
#include "script/options.h"
#include "script/prelude.h"

namespace muster::script {
namespace {

class DocumentReader {
 public:
  DocumentReader(lua_State* state, std::uint32_t line) : state_(state), line_(line) {}

  base::Expected<authoring::YamlNode> read(int index, std::size_t depth) {
    if (depth > kScriptLimits.depth || lua_checkstack(state_, 8) == 0)
      return base::fail("tables are nested too deeply, or hold themselves");
    authoring::YamlNode node;
    node.where = place();
    switch (lua_type(state_, index)) {
      case LUA_TNIL:
        return node;
      case LUA_TBOOLEAN:
        return scalar(lua_toboolean(state_, index) != 0 ? "true" : "false", true);
      case LUA_TNUMBER: {
        const double number = lua_tonumber(state_, index);
        if (!std::isfinite(number)) return base::fail("a number must be finite");
        std::string text;
        append_number(text, number);
        return scalar(std::move(text), true);
      }
      case LUA_TSTRING:
        return scalar(std::string(text_at(state_, index)), false);
      case LUA_TTABLE:
        return table(index, depth);
      default:
        return base::fail(fmt::format("a {} cannot stand here", lua_typename(state_, lua_type(state_, index))));
    }
  }

 private:
  model::Where place() const { return {.file = nullptr, .line = line_, .column = 1}; }

  authoring::YamlNode scalar(std::string text, bool plain) const {
    authoring::YamlNode node;
    node.kind = authoring::YamlNode::Kind::kScalar;
    node.plain = plain;
    node.where = place();
    node.text = std::move(text);
    return node;
  }

  base::Expected<authoring::YamlNode> table(int index, std::size_t depth) {
    authoring::YamlNode node;
    node.where = place();
    if (const auto length = list_length(state_, index)) {
      node.kind = authoring::YamlNode::Kind::kList;
      for (std::size_t i = 1; i <= *length; ++i) {
        lua_rawgeti(state_, index, static_cast<int>(i));
        auto child = read(lua_gettop(state_), depth + 1);
        lua_pop(state_, 1);
        if (!child) return base::fail(fmt::format("[{}]: {}", i, child.error().message));
        node.list.push_back(std::move(*child));
      }
      return node;
    }
    node.kind = authoring::YamlNode::Kind::kMap;
    lua_pushnil(state_);
    while (lua_next(state_, index) != 0) {
      if (lua_type(state_, -2) != LUA_TSTRING) {
        lua_pop(state_, 2);
        return base::fail("a table is either a list or has names as keys, not both");
      }
      std::string key(text_at(state_, -2));
      auto child = read(lua_gettop(state_), depth + 1);
      if (!child) {
        lua_pop(state_, 2);
        return base::fail(fmt::format("{}: {}", key, child.error().message));
      }
      lua_pop(state_, 1);
      node.map.push_back({.key = std::move(key), .key_where = place(), .value = std::move(*child)});
    }
    // Lua keeps no order; one that is always the same gives the same bytes on every core.
    std::ranges::sort(node.map, {}, &authoring::YamlEntry::key);
    return node;
  }

  lua_State* state_;
  std::uint32_t line_;
};

}  // namespace

void push_place(lua_State* state) {
  lua_Debug frame{};
  for (int level = 1; lua_getstack(state, level, &frame) != 0; ++level) {
    lua_getinfo(state, "Sl", &frame);
    if (frame.currentline <= 0 || std::string_view(frame.source) == kPreludeSource) continue;
    lua_pushfstring(state, "%s:%d: ", frame.short_src, frame.currentline);
    return;
  }
  lua_pushliteral(state, "");
}

int raise(lua_State* state, const char* format, ...) {
  push_place(state);
  va_list arguments;
  va_start(arguments, format);
  lua_pushvfstring(state, format, arguments);
  va_end(arguments);
  lua_concat(state, 2);
  return lua_error(state);
}

std::string_view text_at(lua_State* state, int index) {
  std::size_t length = 0;
  const char* text = lua_tolstring(state, index, &length);
  return text != nullptr ? std::string_view(text, length) : std::string_view();
}

void push(lua_State* state, const model::Value& value) {
  switch (value.type()) {
    case model::ValueType::kMissing:
    case model::ValueType::kNull:
      lua_pushnil(state);
      return;
    case model::ValueType::kBool:
      lua_pushboolean(state, value.boolean() ? 1 : 0);
      return;
    case model::ValueType::kInteger:
    case model::ValueType::kNumber:
      lua_pushnumber(state, value.number());
      return;
    case model::ValueType::kText:
      lua_pushlstring(state, value.text().data(), value.text().size());
      return;
    case model::ValueType::kJson:
      push_json(state, value.text());
      return;
  }
}

model::Value to_value(lua_State* state, int index, base::Arena& arena, const char* what) {
  switch (lua_type(state, index)) {
    case LUA_TNIL:
      return {};
    case LUA_TBOOLEAN:
      return model::Value::of(lua_toboolean(state, index) != 0);
    case LUA_TNUMBER: {
      const double number = lua_tonumber(state, index);
      if (!std::isfinite(number)) raise(state, "'%s' must be a finite number", what);
      return whole(number) ? model::Value::of(static_cast<std::int64_t>(number)) : model::Value::of(number);
    }
    case LUA_TSTRING: {
      const std::string_view text = text_at(state, index);
      if (text.size() > kScriptLimits.text_bytes) raise(state, "'%s' is a text of more than 16 MiB", what);
      return model::Value::of(arena.copy(text));
    }
    case LUA_TTABLE: {
      thread_local std::string json;  // outlives an error that leaves this function
      json.clear();
      append_json(state, index, json, 0);
      return model::Value::json(arena.copy(json));
    }
    default:
      raise(state, "'%s' cannot be a %s", what, lua_typename(state, lua_type(state, index)));
  }
  return {};
}

base::Expected<authoring::YamlNode> to_document(lua_State* state, int index, std::uint32_t line) {
  return DocumentReader(state, line).read(index > 0 ? index : lua_gettop(state) + index + 1, 0);
}

}  // namespace muster::script
