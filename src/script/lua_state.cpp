#include "script/lua_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <lua.hpp>
#include <mutex>
#include <thread>
#include <utility>

#include "script/lua_values.h"
#include "script/prelude.h"

namespace muster::script {
namespace {

// Ways out of the sandbox: files and processes, native code, bytecode (which LuaJIT does not verify), other
// functions' environments, and what would disturb the garbage collector's pace.
constexpr std::array<const char*, 17> kForbidden{
    "io",  "os",  "package", "require",        "module",   "dofile",  "loadfile", "load",  "loadstring",
    "ffi", "jit", "debug",   "collectgarbage", "newproxy", "getfenv", "setfenv",  "gcinfo"};
// Of those, what people reach for. Reading one of them is an error that says so; the others are nil, so that a script
// can ask for them.
constexpr std::array<std::string_view, 8> kExplained{"io",   "os",  "package", "require",
                                                     "load", "ffi", "debug",   "collectgarbage"};
constexpr double kMostTextBytes = 0x7fffff00;  // LuaJIT's limit on one text
constexpr std::string_view kLoopHint = "is there a loop outside its functions?";

// __index of the table of globals: asked only for what is not there.
int explain_missing(lua_State* state) {
  if (lua_type(state, 2) != LUA_TSTRING) return 0;
  const std::string_view name = text_at(state, 2);
  if (std::ranges::find(kExplained, name) == kExplained.end()) return 0;
  return raise(state, "%s is not available in workflows (docs/lua.md#limits)", name.data());
}

// string.rep: LuaJIT's own, its upvalue, cuts the number of times to 32 bits and gives an empty text without a word.
int repeat(lua_State* state) {
  std::size_t length = 0;
  std::size_t between = 0;
  luaL_checklstring(state, 1, &length);
  const double times = luaL_checknumber(state, 2);
  luaL_optlstring(state, 3, "", &between);
  const double bytes = times * static_cast<double>(length + between);
  if (bytes > kMostTextBytes) {
    // As much as no state may have: what is to end here is the script, as with a text that is a little smaller.
    void* owner = nullptr;
    const lua_Alloc allocate = lua_getallocf(state, &owner);
    allocate(owner, nullptr, 0, std::numeric_limits<std::size_t>::max() / 2);
    return raise(state, "string.rep: a text of %f bytes is too large", bytes);
  }
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_insert(state, 1);
  lua_call(state, lua_gettop(state) - 1, 1);
  return 1;
}

// Called where an error was raised, before anything is unwound: one that is no text becomes a text with its place.
int describe_error(lua_State* state) {
  if (lua_type(state, 1) == LUA_TSTRING) return 1;
  push_place(state);
  lua_pushfstring(state, "an error that is no text but a %s", lua_typename(state, lua_type(state, 1)));
  lua_concat(state, 2);
  return 1;
}

// "file:line: " of the script's line that raised an error. Empty where the stack does not show it any more: that of a
// coroutine does.
std::string error_place(lua_State* state) {
  lua_Debug frame{};
  for (int level = 0; lua_getstack(state, level, &frame) != 0; ++level) {
    if (lua_getinfo(state, "Sl", &frame) == 0) break;
    if (frame.currentline <= 0 || std::string_view(frame.source) == kPreludeSource) continue;
    return fmt::format("{}:{}: ", frame.short_src, frame.currentline);
  }
  return {};
}

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
  lua_getfield(state, -1, "rep");
  lua_pushcclosure(state, &repeat, 1);
  lua_setfield(state, -2, "rep");
  lua_pop(state, 1);
  // What was loaded must not be reachable through the registry of modules either.
  lua_pushnil(state);
  lua_setfield(state, LUA_REGISTRYINDEX, "_LOADED");
  lua_pushnil(state);
  lua_setfield(state, LUA_REGISTRYINDEX, "_PRELOAD");
  lua_pushvalue(state, LUA_GLOBALSINDEX);
  lua_newtable(state);
  lua_pushcfunction(state, &explain_missing);
  lua_setfield(state, -2, "__index");
  lua_setmetatable(state, -2);
  lua_pop(state, 1);
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

base::Expected<void> LuaState::run() {
  const int status = enter([&] {
    lua_pushcfunction(state_, &describe_error);
    lua_insert(state_, -2);
    const int outcome = lua_pcall(state_, 0, 0, -2);
    lua_remove(state_, outcome == 0 ? -1 : -2);
    return outcome;
  });
  if (exhausted_) return base::fail(fmt::format("{}; {}", out_of_memory(), kLoopHint));
  return ended(status);
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
  std::string message = text != nullptr ? std::string(text, length)
                                        : fmt::format("{}an error that is no text but a {}", error_place(state),
                                                      lua_typename(state, lua_type(state, -1)));
  lua_pop(state, 1);
  return message;
}

struct TimeLimit::Watch {
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  std::thread thread;
};

TimeLimit::TimeLimit(base::Duration limit, std::function<void()> give_up) : watch_(std::make_unique<Watch>()) {
  watch_->thread = std::thread([watch = watch_.get(), limit, give_up = std::move(give_up)] {
    std::unique_lock lock(watch->mutex);
    if (!watch->changed.wait_for(lock, limit, [watch] { return watch->over; })) give_up();
  });
}

TimeLimit::~TimeLimit() {
  {
    const std::lock_guard lock(watch_->mutex);
    watch_->over = true;
  }
  watch_->changed.notify_all();
  watch_->thread.join();
}

ReadingLimit::ReadingLimit(std::string what, base::Duration limit, int exit_code)
    : limit_(limit, [what = std::move(what), limit, exit_code] {
        fmt::print(stderr, "{}: reading the script took longer than {:.0f} s; {}\n", what, base::seconds(limit),
                   kLoopHint);
        std::_Exit(exit_code);
      }) {}

}  // namespace muster::script
