#include "script/lua_json.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <lua.hpp>

#include "authoring/json_grammar.h"
#include "authoring/json_scan.h"
#include "base/arena.h"
#include "script/lua_values.h"
#include "script/options.h"

namespace muster::script {
namespace {

const char kListKey = 0;  // its address names the length in the metatable of a marked list

void must_have_room(lua_State* state, std::size_t depth) {
  if (depth > kScriptLimits.json_depth || lua_checkstack(state, 6) == 0) raise(state, "the JSON is nested too deeply");
}

void push_element(lua_State* state, simdjson::dom::element element, std::size_t depth) {
  must_have_room(state, depth);
  switch (element.type()) {
    case simdjson::dom::element_type::ARRAY: {
      lua_newtable(state);
      int position = 0;
      bool nulls = false;
      for (const simdjson::dom::element each : element.get_array().value_unsafe()) {
        push_element(state, each, depth + 1);
        nulls = nulls || lua_isnil(state, -1);
        lua_rawseti(state, -2, ++position);
      }
      if (nulls || position == 0) mark_list(state, static_cast<std::size_t>(position));
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

// The same for texts that are JSON, but not for simdjson: with numbers that no machine number holds, or halves of
// surrogate pairs.
void push_scanned(lua_State* state, std::string_view raw, base::Arena& arena, std::size_t depth) {
  must_have_room(state, depth);
  const model::Value value = authoring::json_value(raw, arena);
  if (value.type() != model::ValueType::kJson) {
    push(state, value);
    return;
  }
  lua_newtable(state);
  authoring::JsonElements elements(value.text());
  std::string_view each;
  std::size_t count = 0;
  while (elements.next(each)) {
    if (elements.object()) {
      push(state, authoring::json_value(each, arena));
      push_scanned(state, elements.value(), arena, depth + 1);
      lua_rawset(state, -3);
    } else {
      push_scanned(state, each, arena, depth + 1);
      lua_rawseti(state, -2, static_cast<int>(++count));
    }
  }
  if (!elements.object()) mark_list(state, count);
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

// Of a list that was marked; nothing for other tables.
std::optional<std::size_t> marked_length(lua_State* state, int table) {
  if (lua_getmetatable(state, table) == 0) return std::nullopt;
  lua_pushlightuserdata(state, const_cast<char*>(&kListKey));
  lua_rawget(state, -2);
  const bool marked = lua_isnumber(state, -1) != 0;
  const auto length = static_cast<std::size_t>(lua_tonumber(state, -1));
  lua_pop(state, 2);
  return marked ? std::optional(length) : std::nullopt;
}

}  // namespace

bool whole(double number) {
  constexpr double kTooLarge = 9223372036854775808.0;  // 2^63: larger ones have an exponent
  return std::trunc(number) == number && std::fabs(number) < kTooLarge;
}

void append_number(std::string& out, double number) {
  if (whole(number)) {
    fmt::format_to(std::back_inserter(out), "{}", static_cast<std::int64_t>(number));
  } else {
    fmt::format_to(std::back_inserter(out), "{}", number);
  }
}

void mark_list(lua_State* state, std::size_t length) {
  lua_createtable(state, 0, 1);
  lua_pushlightuserdata(state, const_cast<char*>(&kListKey));
  lua_pushnumber(state, static_cast<double>(length));
  lua_rawset(state, -3);
  lua_setmetatable(state, -2);
}

std::optional<std::size_t> list_length(lua_State* state, int table) {
  const std::optional<std::size_t> marked = marked_length(state, table);
  const std::size_t length = std::max(lua_objlen(state, table), marked.value_or(0));
  std::size_t entries = 0;
  lua_pushnil(state);
  while (lua_next(state, table) != 0) {
    lua_pop(state, 1);
    const bool position = lua_type(state, -1) == LUA_TNUMBER && whole(lua_tonumber(state, -1)) &&
                          lua_tonumber(state, -1) >= 1 && lua_tonumber(state, -1) <= static_cast<double>(length);
    if (!position) {
      lua_pop(state, 1);
      return std::nullopt;
    }
    ++entries;
  }
  if (marked) return length;
  return entries == length && length > 0 ? std::optional(length) : std::nullopt;
}

const char* push_json(lua_State* state, std::string_view text) {
  // Kept per thread: making one for every response would cost more than parsing it.
  thread_local simdjson::dom::parser parser;
  if (text.starts_with(authoring::kByteOrderMark)) text.remove_prefix(authoring::kByteOrderMark.size());
  simdjson::dom::element root;
  const simdjson::error_code error = parser.parse(text.data(), text.size()).get(root);
  if (error == simdjson::SUCCESS) {
    push_element(state, root, 0);
    return nullptr;
  }
  if (authoring::json_fault(text, kScriptLimits.json_depth)) {
    lua_pushnil(state);
    return simdjson::error_message(error);
  }
  thread_local base::BlockPool pool;
  thread_local base::Arena arena(pool);
  arena.reset();
  push_scanned(state, text, arena, 0);
  return nullptr;
}

void append_json(lua_State* state, int index, std::string& out, std::size_t depth) {
  index = index > 0 ? index : lua_gettop(state) + index + 1;
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
      if (!std::isfinite(lua_tonumber(state, index))) raise(state, "a number that is not finite cannot be JSON");
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
  if (const auto length = list_length(state, index)) {
    out += '[';
    for (std::size_t i = 1; i <= *length; ++i) {
      if (i > 1) out += ',';
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

}  // namespace muster::script
