// The objects that wrk's scripts are given: threads and addresses, and the little of `io` and `os` that they use.
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <lua.hpp>

#include "script/options.h"
#include "script/wrk_thread.h"

namespace muster::script {
namespace {

constexpr const char* kThread = "muster.wrk.thread";
constexpr const char* kAddress = "muster.wrk.address";

struct Address {
  std::array<char, 128> text;  // "127.0.0.1:80", "[::1]:80"
};

WrkThread& thread_at(lua_State* state, int index) {
  return **static_cast<WrkThread**>(luaL_checkudata(state, index, kThread));
}

Address& push_address(lua_State* state) {
  auto* const made = static_cast<Address*>(lua_newuserdata(state, sizeof(Address)));
  *made = {};
  if (luaL_newmetatable(state, kAddress) != 0) {
    lua_pushcfunction(state, [](lua_State* each) {
      lua_pushstring(each, static_cast<Address*>(luaL_checkudata(each, 1, kAddress))->text.data());
      return 1;
    });
    lua_setfield(state, -2, "__tostring");
  }
  lua_setmetatable(state, -2);
  return *made;
}

// Whether both are coroutines of one state.
bool same_state(lua_State* one, lua_State* other) {
  return lua_topointer(one, LUA_REGISTRYINDEX) == lua_topointer(other, LUA_REGISTRYINDEX);
}

// A value on its way from one thread's state to another's. Errors are raised by the caller in the
// state that asked: an error in the other one would find nobody to catch it.
struct Copy {
  lua_State* from;
  lua_State* to;
  const char* name;  // of the global
  const char* problem = nullptr;

  void value(int index, std::size_t depth);
};

void Copy::value(int index, std::size_t depth) {
  if (problem == nullptr &&
      (depth > kScriptLimits.depth || lua_checkstack(from, 4) == 0 || lua_checkstack(to, 4) == 0)) {
    problem = "a table that is nested so deeply";
  }
  const int type = problem == nullptr ? lua_type(from, index) : LUA_TNIL;
  switch (type) {
    case LUA_TNIL:
      lua_pushnil(to);
      return;
    case LUA_TBOOLEAN:
      lua_pushboolean(to, lua_toboolean(from, index));
      return;
    case LUA_TNUMBER:
      lua_pushnumber(to, lua_tonumber(from, index));
      return;
    case LUA_TSTRING: {
      std::size_t length = 0;
      const char* text = lua_tolstring(from, index, &length);
      lua_pushlstring(to, text, length);
      return;
    }
    case LUA_TTABLE: {
      lua_newtable(to);
      const int made = lua_gettop(to);
      lua_pushnil(from);
      const int key = lua_gettop(from);
      while (problem == nullptr && lua_next(from, index) != 0) {
        value(key, depth + 1);
        value(key + 1, depth + 1);
        if (problem == nullptr) lua_rawset(to, made);
        lua_settop(from, key);
      }
      lua_settop(to, made);
      if (problem != nullptr) lua_settop(from, key - 1);
      return;
    }
    default:
      problem = lua_typename(from, type);
      lua_pushnil(to);
  }
}

// Both run in the other thread's state, protected.
int take_global(lua_State* other) {
  auto& copy = *static_cast<Copy*>(lua_touserdata(other, 1));
  lua_pushstring(other, copy.name);
  lua_rawget(other, LUA_GLOBALSINDEX);
  copy.value(lua_gettop(other), 0);
  return 0;
}

int give_global(lua_State* other) {
  auto& copy = *static_cast<Copy*>(lua_touserdata(other, 1));
  lua_pushstring(other, copy.name);
  copy.value(3, 0);
  if (copy.problem == nullptr) lua_rawset(other, LUA_GLOBALSINDEX);
  return 0;
}

lua_State* state_of(lua_State* state, WrkThread& thread) {
  if (thread.exhausted()) luaL_error(state, "the thread has used up its memory; nothing of it can be read or set");
  return thread.state();
}

void copy_or_raise(lua_State* state, lua_State* other, lua_CFunction function, Copy& copy) {
  if (lua_cpcall(other, function, &copy) != 0) {
    lua_pop(other, 1);
    copy.problem = "a value that does not fit in its memory";
  }
  if (copy.problem != nullptr) luaL_error(state, "%s cannot be given to or taken from a thread", copy.problem);
}

int thread_get(lua_State* state) {
  lua_State* const other = state_of(state, thread_at(state, 1));
  Copy copy{.from = other, .to = state, .name = luaL_checkstring(state, 2)};
  if (same_state(state, other)) {
    lua_settop(state, 2);
    lua_rawget(state, LUA_GLOBALSINDEX);
    return 1;
  }
  copy_or_raise(state, other, &take_global, copy);
  return 1;
}

int thread_set(lua_State* state) {
  lua_State* const other = state_of(state, thread_at(state, 1));
  Copy copy{.from = state, .to = other, .name = luaL_checkstring(state, 2)};
  lua_settop(state, 3);
  if (same_state(state, other)) {
    lua_rawset(state, LUA_GLOBALSINDEX);
    return 0;
  }
  copy_or_raise(state, other, &give_global, copy);
  return 0;
}

int thread_stop(lua_State* state) {
  thread_at(state, 1).stopped = true;
  return 0;
}

int thread_index(lua_State* state) {
  WrkThread& thread = thread_at(state, 1);
  const std::string_view key = luaL_checkstring(state, 2);
  if (key == "addr") {
    Address& address = push_address(state);
    fmt::format_to_n(address.text.data(), address.text.size() - 1, "{}", thread.address);
    return 1;
  }
  if (key == "get") lua_pushcfunction(state, &thread_get);
  if (key == "set") lua_pushcfunction(state, &thread_set);
  if (key == "stop") lua_pushcfunction(state, &thread_stop);
  return lua_gettop(state) > 2 ? 1 : 0;
}

int thread_new_index(lua_State* state) {
  WrkThread& thread = thread_at(state, 1);
  const std::string_view key = luaL_checkstring(state, 2);
  if (key != "addr") return luaL_error(state, "a thread has only 'addr' to set; use thread:set(name, value)");
  thread.address = static_cast<Address*>(luaL_checkudata(state, 3, kAddress))->text.data();
  return 0;
}

int lookup(lua_State* state) {
  const char* host = luaL_checkstring(state, 1);
  const char* service = luaL_checkstring(state, 2);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host, service, &hints, &found); error != 0) {
    return luaL_error(state, "cannot resolve %s:%s: %s", host, service, gai_strerror(error));
  }
  lua_newtable(state);
  int position = 0;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    std::array<char, 64> name{};
    std::array<char, 16> port{};
    if (getnameinfo(each->ai_addr, each->ai_addrlen, name.data(), name.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
      continue;
    }
    Address& address = push_address(state);
    const bool six = each->ai_family == AF_INET6;
    fmt::format_to_n(address.text.data(), address.text.size() - 1, "{}{}{}:{}", six ? "[" : "", name.data(),
                     six ? "]" : "", port.data());
    lua_rawseti(state, -2, ++position);
  }
  freeaddrinfo(found);
  return 1;
}

// Whether a connection can be made there now.
int connect_to(lua_State* state) {
  const std::string_view text = static_cast<Address*>(luaL_checkudata(state, 1, kAddress))->text.data();
  const std::size_t colon = text.rfind(':');
  bool good = false;
  if (colon != std::string_view::npos) {
    std::string host(text.substr(0, colon));
    if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
    const std::string port(text.substr(colon + 1));
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) == 0) {
      const int fd = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, 0);
      if (fd >= 0) {
        const timeval limit{.tv_sec = 5, .tv_usec = 0};
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
        good = connect(fd, found->ai_addr, found->ai_addrlen) == 0;
        close(fd);
      }
      freeaddrinfo(found);
    }
  }
  lua_pushboolean(state, good ? 1 : 0);
  return 1;
}

// The same two while nothing may be sent: as if there were one address and it could be reached.
int planned_lookup(lua_State* state) {
  const char* host = luaL_checkstring(state, 1);
  const char* service = luaL_checkstring(state, 2);
  lua_newtable(state);
  Address& address = push_address(state);
  fmt::format_to_n(address.text.data(), address.text.size() - 1, "{}:{}", host, service);
  lua_rawseti(state, -2, 1);
  return 1;
}

int planned_connect(lua_State* state) {
  luaL_checkudata(state, 1, kAddress);
  lua_pushboolean(state, 1);
  return 1;
}

// Where it prints to: what add_wrk_natives() was given.
std::FILE* output_of(lua_State* state) {
  return static_cast<std::FILE*>(lua_touserdata(state, lua_upvalueindex(1)));
}

int write_out(lua_State* state) {
  std::FILE* const output = output_of(state);
  const int count = lua_gettop(state);
  for (int i = 1; i <= count; ++i) {
    std::size_t length = 0;
    const char* text = luaL_checklstring(state, i, &length);
    if (output != nullptr) std::fwrite(text, 1, length, output);
  }
  lua_pushboolean(state, 1);
  return 1;
}

int print_out(lua_State* state) {
  std::FILE* const output = output_of(state);
  if (output == nullptr) return 0;
  const int count = lua_gettop(state);
  lua_getglobal(state, "tostring");
  for (int i = 1; i <= count; ++i) {
    lua_pushvalue(state, -1);
    lua_pushvalue(state, i);
    lua_call(state, 1, 1);
    std::size_t length = 0;
    const char* text = lua_tolstring(state, -1, &length);
    if (i > 1) std::fputc('\t', output);
    if (text != nullptr) std::fwrite(text, 1, length, output);
    lua_pop(state, 1);
  }
  std::fputc('\n', output);
  return 0;
}

int time_of_day(lua_State* state) {
  lua_pushnumber(state, static_cast<double>(std::time(nullptr)));
  return 1;
}

int cpu_time(lua_State* state) {
  lua_pushnumber(state, static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
  return 1;
}

}  // namespace

void push_thread(lua_State* state, WrkThread& thread) {
  *static_cast<WrkThread**>(lua_newuserdata(state, sizeof(WrkThread*))) = &thread;
  if (luaL_newmetatable(state, kThread) != 0) {
    lua_pushcfunction(state, &thread_index);
    lua_setfield(state, -2, "__index");
    lua_pushcfunction(state, &thread_new_index);
    lua_setfield(state, -2, "__newindex");
  }
  lua_setmetatable(state, -2);
}

void add_wrk_natives(lua_State* state, std::FILE* output) {
  const auto printer = [&](lua_CFunction function) {
    lua_pushlightuserdata(state, output);
    lua_pushcclosure(state, function, 1);
  };
  lua_pushcfunction(state, output != nullptr ? &lookup : &planned_lookup);
  lua_setfield(state, -2, "lookup");
  lua_pushcfunction(state, output != nullptr ? &connect_to : &planned_connect);
  lua_setfield(state, -2, "connect");
  printer(&print_out);
  lua_setglobal(state, "print");
  lua_newtable(state);
  printer(&write_out);
  lua_setfield(state, -2, "write");
  lua_setglobal(state, "io");
  lua_newtable(state);
  lua_pushcfunction(state, &time_of_day);
  lua_setfield(state, -2, "time");
  lua_pushcfunction(state, &cpu_time);
  lua_setfield(state, -2, "clock");
  lua_setglobal(state, "os");
}

}  // namespace muster::script
