#include "script/lua_stack.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <lua.hpp>
#include <utility>

#include "script/lua_values.h"
#include "script/options.h"

namespace muster::script {
namespace {

// The lowest address that a function may be called back at on this thread.
std::uintptr_t stack_floor() {
  pthread_attr_t attributes{};
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* lowest = nullptr;
  std::size_t size = 0;
  const bool known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  pthread_attr_destroy(&attributes);
  if (!known) return 0;
  return reinterpret_cast<std::uintptr_t>(lowest) + std::min(kScriptLimits.stack_reserve, size / 2);
}

void must_have_stack(lua_State* state) {
  thread_local const std::uintptr_t floor = stack_floor();
  if (reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) > floor) return;
  raise(state, "stack overflow: functions that string.gsub, table.sort or a coroutine calls go too deep");
}

// One of the library's C functions, with the same arguments on the same frame.
int watched(lua_State* state) {
  must_have_stack(state);
  const auto function = reinterpret_cast<lua_CFunction>(lua_touserdata(state, lua_upvalueindex(1)));
  return function(state);
}

void watch(lua_State* state, const char* library, const char* name) {
  lua_getglobal(state, library);
  lua_getfield(state, -1, name);
  if (const lua_CFunction function = lua_tocfunction(state, -1); function != nullptr) {
    lua_pushlightuserdata(state, reinterpret_cast<void*>(function));
    lua_pushcclosure(state, &watched, 1);
    lua_setfield(state, -3, name);
  }
  lua_pop(state, 2);
}

const char* why_not_resumed(lua_State* state, lua_State* other) {
  const int status = lua_status(other);
  if (status == LUA_YIELD) return nullptr;
  lua_Debug frame{};
  if (other == state || (status == 0 && lua_getstack(other, 0, &frame) != 0))
    return "cannot resume non-suspended coroutine";
  return status != 0 || lua_gettop(other) == 0 ? "cannot resume dead coroutine" : nullptr;
}

// Runs `other` with the topmost `arguments` values. The number of values it left on the stack, or -1 and a message.
int resume_other(lua_State* state, lua_State* other, int arguments) {
  auto& depth = *static_cast<CoroutineDepth*>(lua_touserdata(state, lua_upvalueindex(1)));
  if (const char* reason = why_not_resumed(state, other); reason != nullptr) {
    lua_pushstring(state, reason);
    return -1;
  }
  must_have_stack(state);
  if (depth.now >= kScriptLimits.coroutine_depth) {
    raise(state, "stack overflow: more than %d coroutines within coroutines",
          static_cast<int>(kScriptLimits.coroutine_depth));
  }
  if (lua_checkstack(other, arguments + 1) == 0) raise(state, "too many arguments for a coroutine");
  lua_xmove(state, other, arguments);
  ++depth.now;
  const int status = lua_resume(other, arguments);
  --depth.now;
  if (status != 0 && status != LUA_YIELD) {
    lua_xmove(other, state, 1);
    return -1;
  }
  const int results = lua_gettop(other);
  luaL_checkstack(state, results + 1, "too many results of a coroutine");
  lua_xmove(other, state, results);
  return results;
}

int resume(lua_State* state) {
  lua_State* const other = lua_tothread(state, 1);
  luaL_argcheck(state, other != nullptr, 1, "coroutine expected");
  const int results = resume_other(state, other, lua_gettop(state) - 1);
  lua_pushboolean(state, results >= 0 ? 1 : 0);
  const int given = results >= 0 ? results : 1;
  lua_insert(state, -given - 1);
  return given + 1;
}

// What `wrap` gives; its second upvalue is the coroutine.
int resume_wrapped(lua_State* state) {
  const int results = resume_other(state, lua_tothread(state, lua_upvalueindex(2)), lua_gettop(state));
  return results >= 0 ? results : lua_error(state);
}

int wrap(lua_State* state) {
  luaL_checktype(state, 1, LUA_TFUNCTION);
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_State* const made = lua_newthread(state);
  lua_pushvalue(state, 1);
  lua_xmove(state, made, 1);
  lua_pushcclosure(state, &resume_wrapped, 2);
  return 1;
}

// The coroutine that a VU's function runs on is not the script's to resume: outside of its own there is none.
int running(lua_State* state) {
  const auto& depth = *static_cast<CoroutineDepth*>(lua_touserdata(state, lua_upvalueindex(1)));
  if (depth.now == 0) return 0;
  lua_pushthread(state);
  return 1;
}

}  // namespace

void watch_stack(lua_State* state, CoroutineDepth& depth) {
  watch(state, "string", "gsub");
  watch(state, "table", "sort");
  lua_getglobal(state, "coroutine");
  constexpr std::array<std::pair<const char*, lua_CFunction>, 3> kFunctions{
      {{"resume", &resume}, {"wrap", &wrap}, {"running", &running}}};
  for (const auto& [name, function] : kFunctions) {
    lua_pushlightuserdata(state, &depth);
    lua_pushcclosure(state, function, 1);
    lua_setfield(state, -2, name);
  }
  lua_pop(state, 1);
}

}  // namespace muster::script
