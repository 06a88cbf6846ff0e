#include "script/lua_values.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <lua.hpp>
#include <vector>

#include "script/options.h"
#include "script/prelude.h"

namespace muster::script {
namespace {

constexpr double kExact = 9007199254740992.0;  // 2^53: whole numbers below it are exact

bool whole(double number) {
  return std::trunc(number) == number && std::fabs(number) < kExact;
}

void push_element(lua_State* state, simdjson::dom::element element, std::size_t depth) {
  if (depth > kScriptLimits.json_depth || lua_checkstack(state, 4) == 0) {
    raise(state, "the JSON is nested too deeply");
  }
  switch (element.type()) {
    case simdjson::dom::element_type::ARRAY: {
      lua_newtable(state);
      int position = 0;
      for (const simdjson::dom::element each : element.get_array().value_unsafe()) {
        push_element(state, each, depth + 1);
        lua_rawseti(state, -2, ++position);
      }
      break;
    }
    case simdjson::dom::element_type::OBJECT: {
      lua_newtable(state);
      for (const simdjson::dom::key_value_pair each : element.get_object().value_unsafe()) {
        lua_pushlstring(state, each.key.data(), each.key.size());
        push_element(state, each.value, depth + 1);
        lua_rawset(state, -3);
      }
      break;
    }
    case simdjson::dom::element_type::INT64:
      lua_pushnumber(state, static_cast<double>(element.get_int64().value_unsafe()));
      break;
    case simdjson::dom::element_type::UINT64:
      lua_pushnumber(state, static_cast<double>(element.get_uint64().value_unsafe()));
      break;
    case simdjson::dom::element_type::DOUBLE:
      lua_pushnumber(state, element.get_double().value_unsafe());
      break;
    case simdjson::dom::element_type::STRING: {
      const std::string_view text = element.get_string().value_unsafe();
      lua_pushlstring(state, text.data(), text.size());
      break;
    }
    case simdjson::dom::element_type::BOOL:
      lua_pushboolean(state, element.get_bool().value_unsafe() ? 1 : 0);
      break;
    case simdjson::dom::element_type::NULL_VALUE:
      lua_pushnil(state);
      break;
  }
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_number(std::string& out, double number) {
  if (whole(number)) {
    fmt::format_to(std::back_inserter(out), "{}", static_cast<std::int64_t>(number));
  } else {
    fmt::format_to(std::back_inserter(out), "{}", number);
  }
}

int absolute(lua_State* state, int index) {
  return index > 0 ? index : lua_gettop(state) + index + 1;
}

// How many values a table that is a list has; 0 where it is none or empty.
std::size_t list_length(lua_State* state, int table) {
  const std::size_t length = lua_objlen(state, table);
  std::size_t entries = 0;
  lua_pushnil(state);
  while (lua_next(state, table) != 0) {
    lua_pop(state, 1);
    if (lua_type(state, -1) != LUA_TNUMBER) {
      lua_pop(state, 1);
      return 0;
    }
    ++entries;
  }
  return entries == length ? length : 0;
}

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
        std::string text;
        append_number(text, lua_tonumber(state_, index));
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
    if (const std::size_t length = list_length(state_, index); length > 0) {
      node.kind = authoring::YamlNode::Kind::kList;
      for (std::size_t i = 1; i <= length; ++i) {
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

const char* push_json(lua_State* state, std::string_view text) {
  // Kept per thread: making one for every response would cost more than parsing it.
  thread_local simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (const simdjson::error_code error = parser.parse(text.data(), text.size()).get(root); error != simdjson::SUCCESS) {
    lua_pushnil(state);
    return simdjson::error_message(error);
  }
  push_element(state, root, 0);
  return nullptr;
}

void append_json(lua_State* state, int index, std::string& out, std::size_t depth) {
  index = absolute(state, index);
  if (depth > kScriptLimits.depth || lua_checkstack(state, 8) == 0 || out.size() > kScriptLimits.text_bytes) {
    raise(state, "a table is nested too deeply or too large to be JSON");
  }
  switch (lua_type(state, index)) {
    case LUA_TNIL:
      out += "null";
      return;
    case LUA_TBOOLEAN:
      out += lua_toboolean(state, index) != 0 ? "true" : "false";
      return;
    case LUA_TNUMBER:
      append_number(out, lua_tonumber(state, index));
      return;
    case LUA_TSTRING:
      append_quoted(out, text_at(state, index));
      return;
    case LUA_TTABLE:
      break;
    default:
      raise(state, "a %s cannot be JSON", lua_typename(state, lua_type(state, index)));
  }
  if (const std::size_t length = list_length(state, index); length > 0) {
    for (std::size_t i = 1; i <= length; ++i) {
      out += i == 1 ? '[' : ',';
      lua_rawgeti(state, index, static_cast<int>(i));
      append_json(state, -1, out, depth + 1);
      lua_pop(state, 1);
    }
    out += ']';
    return;
  }
  out += '{';
  bool first = true;
  lua_pushnil(state);
  while (lua_next(state, index) != 0) {
    if (lua_type(state, -2) != LUA_TSTRING) raise(state, "a table is either a list or has names as keys, not both");
    if (!first) out += ',';
    first = false;
    append_quoted(out, text_at(state, -2));
    out += ':';
    append_json(state, -1, out, depth + 1);
    lua_pop(state, 1);
  }
  out += '}';
}

model::Value to_value(lua_State* state, int index, base::Arena& arena, const char* what) {
  switch (lua_type(state, index)) {
    case LUA_TNIL:
      return {};
    case LUA_TBOOLEAN:
      return model::Value::of(lua_toboolean(state, index) != 0);
    case LUA_TNUMBER: {
      const double number = lua_tonumber(state, index);
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
  return DocumentReader(state, line).read(absolute(state, index), 0);
}

}  // namespace muster::script
