// One LuaJIT state with a limit on its memory and a sandbox around it: no files, processes, network, foreign functions,
// bytecode or debugging, only what muster itself puts in. Belongs to one thread.
//
// A script that reaches the limit is left at once, from within the allocator, and its state is never entered again nor
// closed: LuaJIT cannot always raise that error (it crashes when compiled code runs out of memory), and a script that
// catches it would go on without room for anything. What it held is given back when the process ends.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"
#include "script/lua_stack.h"

struct lua_State;
using LuaFunction = int (*)(lua_State*);

namespace muster::script {

class LuaState {
 public:
  // `file`: the script's, for messages.
  LuaState(std::size_t memory_bytes, std::string file);
  LuaState(const LuaState&) = delete;
  LuaState& operator=(const LuaState&) = delete;
  ~LuaState();

  // Makes the state and takes out of it what a script must not have.
  base::Expected<void> open();

  lua_State* get() const { return state_; }
  std::size_t used() const { return used_; }
  std::size_t limit() const { return limit_; }

  // Compiles `text` and leaves it on the stack as a function. `name` stands in messages.
  base::Expected<void> compile(std::string_view text, const std::string& name);
  // Runs the script that compile() left there. An error that is no text is told with its place.
  base::Expected<void> run();
  // Calls the function below `arguments` values; errors are told as Lua told them.
  base::Expected<void> call(int arguments, int results);
  // Calls `function` with `data` as its argument.
  base::Expected<void> call(LuaFunction function, void* data);
  // Goes on with a coroutine: LUA_YIELD, 0 or the status of an error. Look at exhausted() first.
  int resume(lua_State* thread, int arguments);

  // The memory is used up: nothing of the state may be touched any more.
  bool exhausted() const { return exhausted_; }
  // That for the reader: whose script it was, and how much it may have.
  std::string out_of_memory() const;

  // The message of the error on top of the stack, which it takes away.
  static std::string take_error(lua_State* state);

 private:
  // Runs `inside`, which gives Lua's status, with the way out that the allocator takes.
  template <typename Inside>
  int enter(const Inside& inside);
  base::Expected<void> ended(int status);
  static void* allocate(void* self, void* block, std::size_t old_size, std::size_t new_size);

  using Allocator = void* (*)(void*, void*, std::size_t, std::size_t);
  lua_State* state_ = nullptr;
  Allocator allocator_ = nullptr;  // LuaJIT's own, which ours asks
  void* allocator_data_ = nullptr;
  std::size_t limit_;
  std::size_t used_ = 0;
  std::string file_;
  CoroutineDepth depth_;
  std::jmp_buf* way_out_ = nullptr;  // while Lua runs
  bool exhausted_ = false;
};

// Calls `give_up` on a thread of its own if it is not destroyed within `limit`: the only way out of a script that never
// comes back.
class TimeLimit {
 public:
  TimeLimit(base::Duration limit, std::function<void()> give_up);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  struct Watch;
  std::unique_ptr<Watch> watch_;
};

// The same for a script that is being read: ends the process, with a message.
class ReadingLimit {
 public:
  ReadingLimit(std::string what, base::Duration limit, int exit_code);

 private:
  TimeLimit limit_;
};

}  // namespace muster::script
