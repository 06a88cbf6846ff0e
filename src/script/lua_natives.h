// The native functions that the prelude is built on, while a script runs on a core. All of them run inside protected
// calls; none keeps anything with a destructor across a call that may raise.
#pragma once

#include <cstdint>

#include "model/step_kind.h"

struct lua_State;

namespace muster::script {

class LuaScript;

struct LuaNatives {
  // Where the registry holds the table of native functions, until the prelude has taken it.
  static constexpr int kTable = 1'000'000'007;

  // For lua_cpcall: makes that table.
  static int push_run_table(lua_State* state);

  // For lua_cpcall: puts a function and its VU object on a coroutine's stack; makes the coroutine if there is none.
  struct Preparation {
    LuaScript& script;
    lua_State* thread;
    int reference;
    int function;
    bool starting;  // what the VU object is given is kept: `kept` is made
    int kept;       // reference to the metatable that shows what `start` kept; 0: none
    std::uint64_t vu;
    std::uint64_t iteration;
  };
  static int prepare(lua_State* state);

  // For lua_cpcall: the same for a branch of `parallel`, whose function is in the table of its parent.
  struct BranchPreparation {
    lua_State* thread;
    int reference;
    int functions;
    int position;  // from 1
  };
  static int prepare_branch(lua_State* state);

  // For lua_cpcall, when the script has been read: what begins its functions, and, for a script without workflows, the
  // global `run`.
  static int take_functions(lua_State* state);

  // Whether the error on top of the stack is a failed step, raised by the prelude.
  static bool is_failure(const LuaScript& script, lua_State* thread);

 private:
  static int call(lua_State* state);
  static int fill(lua_State* state);
  static int sleep(lua_State* state);
  static int fork(lua_State* state);
  static int branch_failed(lua_State* state);
  static int now(lua_State* state);
  static int transaction(lua_State* state);
  static int stop(lua_State* state);
  static int set(lua_State* state);
  static int log(lua_State* state);
  static int value(lua_State* state);
  static int random(lua_State* state);
  static int step(lua_State* state);
  static int job(lua_State* state);
  static int workflow(lua_State* state);
  static int read_result(lua_State* state);
  static int read_name(lua_State* state);

  static LuaScript& self(lua_State* state);
  // Raises an error unless the script is in one of its functions, on its own coroutine.
  static void must_run(lua_State* state, const LuaScript& script, const char* what);
  // The same, and unless it can be left from here to be gone on with later.
  static void must_be_able_to_wait(lua_State* state, const LuaScript& script, const char* what);
  // Raises an error when the iteration holds too many values already.
  static void must_have_room(lua_State* state, const LuaScript& script);
  static void take_arguments(lua_State* state, LuaScript& script, std::uint32_t index);
};

// What needs no core, for both states: range, encode, decode, list and the kinds of steps. Adds them to the table on
// top of the stack.
void add_plain_natives(lua_State* state, const model::StepKinds& kinds);

}  // namespace muster::script
