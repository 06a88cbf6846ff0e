// One LuaJIT state with a limit on its memory and a sandbox around it: no files, processes, network, foreign functions,
// bytecode or debugging, only what muster itself puts in. Belongs to one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"

struct lua_State;

namespace muster::script {

class LuaState {
 public:
  explicit LuaState(std::size_t memory_bytes);
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
  // Calls the function below `arguments` values; errors are told as Lua told them.
  base::Expected<void> call(int arguments, int results);

  // Lua's own words for it, which arrive as an ordinary error when a script caught it and raised it again.
  static constexpr std::string_view kOutOfMemory = "not enough memory";
  // The same for the reader: whose script it was, and how much it may have.
  std::string out_of_memory(const std::string& file) const;

  // The message of the error on top of the stack, which it takes away.
  static std::string take_error(lua_State* state);

 private:
  static void* allocate(void* self, void* block, std::size_t old_size, std::size_t new_size);

  using Allocator = void* (*)(void*, void*, std::size_t, std::size_t);
  lua_State* state_ = nullptr;
  Allocator allocator_ = nullptr;  // LuaJIT's own, which ours asks
  void* allocator_data_ = nullptr;
  std::size_t limit_;
  std::size_t used_ = 0;
};

// Ends the process, with a message, if it is not destroyed within `limit`: the only way out of a script that never
// comes back while it is being read.
class ReadingLimit {
 public:
  ReadingLimit(std::string what, base::Duration limit, int exit_code);
  ~ReadingLimit();
  ReadingLimit(const ReadingLimit&) = delete;
  ReadingLimit& operator=(const ReadingLimit&) = delete;

 private:
  struct Watch;
  std::unique_ptr<Watch> watch_;
};

}  // namespace muster::script
