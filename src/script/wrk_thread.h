// A thread as a wrk script sees it: its own Lua state, the address it sends to, and values that `setup` and `done` may
// give to it and take from it. Made and set up by the program's thread, then used by one core, then looked at again
// when all cores have ended.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/job.h"
#include "script/lua_state.h"

struct lua_State;

namespace muster::script {

// What is known of a script's requests when it has been read.
struct WrkPlan {
  bool known = false;  // false: functions of the script decide
  std::string method;
  std::string path;
};

class WrkThread {
 public:
  // kPlanning: the script is only read; what it prints is not shown, and nothing is looked up or connected to.
  enum class Use : std::uint8_t { kRunning, kPlanning };
  WrkThread(const model::Script& script, std::size_t memory_bytes, Use use = Use::kRunning);

  // Makes the state and reads the script in it.
  base::Expected<void> open();
  // Runs `init` with the arguments and looks which hooks there are.
  base::Expected<void> begin();
  // Calls a function of the prelude's table with `thread` as its argument, in this state: `set_up`.
  base::Expected<void> set_up(WrkThread& thread);
  base::Expected<void> resolve();
  // After open(): what it will send, as far as that is known.
  base::Expected<WrkPlan> plan();

  // What `request` gives now; valid until the next call. The first one also tells how many requests it holds.
  base::Expected<std::string_view> request();
  base::Expected<std::uint32_t> count_requests();
  // Milliseconds to wait before the next request.
  base::Expected<double> delay();
  base::Expected<void> response(std::uint32_t status, std::string_view headers, std::string_view body);

  bool has_delay() const { return delay_ != 0; }
  bool wants_responses() const { return response_ != 0; }
  bool has_done() const { return done_ != 0; }
  // The global `done` of this state, as a reference; 0: there is none.
  int find_done();
  lua_State* state() const { return state_.get(); }
  // Calls `function` in this state with `data` as its argument.
  base::Expected<void> call(LuaFunction function, void* data) { return state_.call(function, data); }
  bool exhausted() const { return state_.exhausted(); }

  std::string address;  // "ip:port"; empty: wherever the name leads
  bool stopped = false;
  // Requests per second, sampled every tenth of a second: what `done` is told as `requests`.
  std::vector<double> rates;

 private:
  const model::Script& script_;
  Use use_;
  LuaState state_;
  int table_ = 0;  // the prelude's: references
  int request_ = 0;
  int response_ = 0;
  int delay_ = 0;
  int done_ = 0;
  bool dynamic_ = false;
  std::string bytes_;
};

// Pushes `thread` as the object that scripts know: addr, get, set, stop.
void push_thread(lua_State* state, WrkThread& thread);

// For the prelude's table on top of the stack: lookup and connect, and the output that wrk's scripts may use, which
// goes to `output`. Null: nothing leaves the process; lookup and connect make up that all is well.
void add_wrk_natives(lua_State* state, std::FILE* output);

}  // namespace muster::script
