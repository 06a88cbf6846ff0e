// A Lua script on one core: one state, a coroutine for each VU that is in one of its functions. Calls look blocking to
// the script; underneath each one yields to the interpreter and is resumed with what came back.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/arena.h"
#include "engine/script.h"
#include "engine/vu.h"
#include "model/step_kind.h"
#include "script/lua_state.h"
#include "script/pace.h"

struct lua_State;

namespace muster::script {

class LuaScript final : public engine::Script {
 public:
  // `kinds` outlives it.
  LuaScript(const engine::ScriptServices& services, const model::StepKinds& kinds);
  ~LuaScript() override;

  base::Expected<void> open() override;
  engine::ScriptAction begin(engine::Strand& strand, engine::VuList list) override;
  engine::ScriptAction begin_branch(engine::Strand& branch, engine::Strand& parent, std::uint32_t function) override;
  engine::ScriptAction resume(engine::Strand& strand, const engine::StepReport* report) override;
  void drop(engine::Strand& strand) override;
  void forget(engine::Vu& vu) override;

 private:
  friend struct LuaNatives;

  // A coroutine and where the registry holds it.
  struct Fiber {
    lua_State* thread = nullptr;
    int reference = 0;
    std::uint32_t callable = 0;  // the step that it called last
    int functions = 0;           // of its `parallel`, while that runs
    std::string mistake = {};    // of a branch of it, which it is to raise when all have ended
  };

  base::Expected<void> read();
  engine::ScriptAction give_up(const std::string& reason);
  Fiber* take_fiber();
  void release(Fiber* fiber);
  void discard(Fiber* fiber);
  engine::ScriptAction launch(engine::Strand& strand, Fiber& fiber, engine::VuList list);
  engine::ScriptAction go_on(engine::Strand& strand, Fiber& fiber, int arguments);
  engine::ScriptAction failed(engine::Strand& strand, Fiber& fiber, int status);
  void tell_mistake(const std::string& message);
  void finish(engine::Strand& strand, Fiber& fiber);
  base::Expected<void> prepare(engine::Strand& strand, Fiber& fiber, engine::VuList list);

  engine::ScriptServices services_;
  const model::StepKinds& kinds_;
  LuaState state_;
  Pace pace_;
  int launch_ = 0;                  // the prelude's: begins one of the functions
  std::array<int, 4> functions_{};  // by VuList: references; 0: none
  std::uint32_t declared_ = 0;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> free_;

  base::BlockPool blocks_;
  base::Arena scratch_{blocks_};  // for what is read of a response, until the script waits again

  // While the script runs.
  engine::Strand* running_ = nullptr;
  Fiber* fiber_ = nullptr;
  const engine::StepReport* report_ = nullptr;
  std::uint64_t generation_ = 0;  // of the response that may be read
  engine::ScriptAction wanted_;
  bool wants_ = false;
  int result_meta_ = 0;
  int names_meta_ = 0;
  bool broken_ = false;
};

}  // namespace muster::script
