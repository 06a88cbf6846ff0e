#include "script/lua_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <lua.hpp>
#include <mutex>
#include <thread>
#include <utility>

namespace muster::script {
namespace {

// Ways out of the sandbox: files and processes, native code, bytecode (which LuaJIT does not verify), other
// functions' environments, and what would disturb the garbage collector's pace.
constexpr std::array<const char*, 17> kForbidden{
    "io",  "os",  "package", "require",        "module",   "dofile",  "loadfile", "load",  "loadstring",
    "ffi", "jit", "debug",   "collectgarbage", "newproxy", "getfenv", "setfenv",  "gcinfo"};

int close_sandbox(lua_State* state) {
  luaL_openlibs(state);
  watch_stack(state, *static_cast<CoroutineDepth*>(lua_touserdata(state, 1)));
  for (const char* name : kForbidden) {
    lua_pushnil(state);
    lua_setglobal(state, name);
  }
  lua_getglobal(state, "string");
  lua_pushnil(state);
  lua_setfield(state, -2, "dump");
  lua_pop(state, 1);
  // What was loaded must not be reachable through the registry of modules either.
  lua_pushnil(state);
  lua_setfield(state, LUA_REGISTRYINDEX, "_LOADED");
  lua_pushnil(state);
  lua_setfield(state, LUA_REGISTRYINDEX, "_PRELOAD");
  return 0;
}

}  // namespace

LuaState::LuaState(std::size_t memory_bytes, std::string file) : limit_(memory_bytes), file_(std::move(file)) {}

LuaState::~LuaState() {
  if (state_ != nullptr && !exhausted_) lua_close(state_);
}

// Nothing with a destructor may stand between this and what `inside` calls: the way out passes it by.
template <typename Inside>
int LuaState::enter(const Inside& inside) {
  if (exhausted_) return LUA_ERRMEM;
  std::jmp_buf here;
  // NOLINTNEXTLINE(bugprone-*,cert-err52-cpp): see the header
  if (setjmp(here) != 0) {
    way_out_ = nullptr;
    return LUA_ERRMEM;
  }
  way_out_ = &here;
  const int status = inside();
  way_out_ = nullptr;
  return status;
}

void* LuaState::allocate(void* self, void* block, std::size_t old_size, std::size_t new_size) {
  auto& owner = *static_cast<LuaState*>(self);
  const std::size_t old = block != nullptr ? old_size : 0;
  const bool fits = new_size <= old || owner.used_ + (new_size - old) <= owner.limit_;
  void* const made = fits ? owner.allocator_(owner.allocator_data_, block, old_size, new_size) : nullptr;
  if (made == nullptr && new_size != 0) {
    if (owner.way_out_ == nullptr) return nullptr;
    owner.exhausted_ = true;
    // NOLINTNEXTLINE(bugprone-*,cert-err52-cpp): see the header
    std::longjmp(*owner.way_out_, 1);
  }
  owner.used_ = owner.used_ - std::min(old, owner.used_) + new_size;
  return made;
}

base::Expected<void> LuaState::open() {
  state_ = luaL_newstate();
  if (state_ == nullptr) return base::fail("there is not enough memory for a Lua state");
  allocator_ = lua_getallocf(state_, &allocator_data_);
  used_ = static_cast<std::size_t>(lua_gc(state_, LUA_GCCOUNT, 0)) * 1024;
  lua_setallocf(state_, &LuaState::allocate, this);
  return call(&close_sandbox, &depth_);
}

base::Expected<void> LuaState::ended(int status) {
  if (status == 0) return {};
  if (exhausted_) return base::fail(out_of_memory());
  const std::string message = take_error(state_);
  return base::fail(message.starts_with(file_) ? message : fmt::format("{}: {}", file_, message));
}

base::Expected<void> LuaState::compile(std::string_view text, const std::string& name) {
  const std::string chunk = "@" + name;
  if (text.starts_with('\x1b'))
    return base::fail(fmt::format("{}: this is compiled Lua; muster reads scripts as text only", name));
  return ended(enter([&] { return luaL_loadbufferx(state_, text.data(), text.size(), chunk.c_str(), "t"); }));
}

base::Expected<void> LuaState::call(int arguments, int results) {
  return ended(enter([&] { return lua_pcall(state_, arguments, results, 0); }));
}

base::Expected<void> LuaState::call(LuaFunction function, void* data) {
  return ended(enter([&] { return lua_cpcall(state_, function, data); }));
}

int LuaState::resume(lua_State* thread, int arguments) {
  return enter([&] { return lua_resume(thread, arguments); });
}

std::string LuaState::out_of_memory() const {
  return fmt::format("'{}' needs more than the {} MiB that a script may have on a core", file_, limit_ >> 20);
}

std::string LuaState::take_error(lua_State* state) {
  std::size_t length = 0;
  const char* text = lua_type(state, -1) == LUA_TSTRING ? lua_tolstring(state, -1, &length) : nullptr;
  std::string message =
      text != nullptr ? std::string(text, length)
                      : fmt::format("an error that is no text but a {}", lua_typename(state, lua_type(state, -1)));
  lua_pop(state, 1);
  return message;
}

struct ReadingLimit::Watch {
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  std::thread thread;
};

ReadingLimit::ReadingLimit(std::string what, base::Duration limit, int exit_code) : watch_(std::make_unique<Watch>()) {
  watch_->thread = std::thread([watch = watch_.get(), what = std::move(what), limit, exit_code] {
    std::unique_lock lock(watch->mutex);
    if (watch->changed.wait_for(lock, limit, [watch] { return watch->over; })) return;
    fmt::print(stderr, "{}: reading the script took longer than {:.0f} s; is there a loop outside its functions?\n",
               what, base::seconds(limit));
    std::_Exit(exit_code);
  });
}

ReadingLimit::~ReadingLimit() {
  {
    const std::lock_guard lock(watch_->mutex);
    watch_->over = true;
  }
  watch_->changed.notify_all();
  watch_->thread.join();
}

}  // namespace muster::script
