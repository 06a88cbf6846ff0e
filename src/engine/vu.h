// A virtual user and its strands. A VU belongs to one core and is moved on by that core's Interpreter and Scheduler
// alone. An idle VU is a few hundred bytes: its values live in an arena that is empty between iterations.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/time.h"
#include "engine/http_session.h"
#include "engine/program.h"
#include "engine/protocol.h"
#include "model/result.h"
#include "model/value.h"
#include "reactor/timers.h"

namespace muster::engine {

class Vu;
class Interpreter;
struct Join;

// Where a strand stands with the retries around it.
struct Retrying {
  bool inside = false;
  bool again = false;      // in a second or later try of one of them
  std::uint32_t from = 0;  // where Vu::tried begins for that one, or for the innermost in its first try
};

// A loop, retry or group that a strand is in.
struct Frame {
  std::uint64_t count = 0;  // rounds or tries so far
  base::Instant began{};
  Retrying retrying{};
};

// Why what a script called did not end well.
struct StepFailure {
  model::ErrorClass error{};
  std::string detail;
};

// One line of execution of a VU: its main one, or a branch of `parallel` or of a graph. Its timer is the strand's
// sleep.
class Strand : public reactor::Timer, public Call {
 public:
  explicit Strand(reactor::Timer::Fire fire) : Timer(fire) {}

  Interpreter* interpreter = nullptr;
  base::Instant due{};          // when its sleep should end
  base::Duration owed{};        // pauses that its failure passed over
  base::Duration thought{};     // pauses that it has taken; of branches, that of the longest
  Join* waiting_for = nullptr;  // its own fork, while that runs
  Join* part_of = nullptr;      // the fork that it is a branch of
  std::uint32_t node = 0;       // its position in that fork
  std::uint32_t pc = 0;
  bool failing = false;
  bool calling = false;
  bool in_script = false;                // its function of the script has begun
  bool in_step = false;                  // and called a step
  bool partly_ok = false;                // of several answers to its call one was good
  void* fiber = nullptr;                 // the script's own: where it was left
  std::unique_ptr<StepFailure> failure;  // in a scripted program: the latest; of branches, the first one's
  Retrying around;                       // a branch: of the strand that forked it
  std::vector<Frame> frames;

  const Retrying& retrying() const { return frames.empty() ? around : frames.back().retrying; }
};

// A fork under way. Pooled by the interpreter.
struct Join {
  Strand* parent = nullptr;
  const CompiledFork* fork = nullptr;
  std::uint32_t running = 0;
  bool failed = false;                 // one of its branches
  base::Duration thought{};            // by the branch that has done so for longest
  std::vector<std::uint32_t> waiting;  // predecessors not yet done, by node
  std::vector<char> blocked;           // a predecessor failed or was skipped, by node
  std::vector<Strand*> strands;        // those running
};

// Values that outlive the iteration, one for each of Program::kept_slots.
struct KeptValues {
  std::vector<model::Value> values;
  std::vector<std::string> texts;  // what the values' views point into
};

class Vu {
 public:
  Vu(base::BlockPool& pool, Interpreter& interpreter, reactor::Timer::Fire wake, std::uint64_t vu_number)
      : main(wake), arena(pool), number(vu_number) {
    main.vu = this;
    main.interpreter = &interpreter;
  }

  Strand main;
  base::Arena arena;
  model::Value* slots = nullptr;     // in the arena, while a list runs
  std::unique_ptr<KeptValues> kept;  // what `start` saved
  std::vector<std::uint32_t> tried;  // steps that ran in the retries under way; see Retrying
  HttpSession http;
  std::uint64_t number = 0;     // over the whole workflow, from 0
  std::uint64_t iteration = 0;  // of this VU, from 0
  base::Instant intended{};     // open load: when this iteration should have started; zero once a call has used it
  base::Instant began{};        // this iteration
  base::Instant arrival{};      // open load: what `start` was run for
  Vu* next_free = nullptr;
  void* script = nullptr;  // what the script keeps for this VU
  VuList list = VuList::kNone;
  bool failed = false;
  bool retiring = false;  // ends after this iteration
  bool active = false;
  bool stop_list = false;     // a `stop` step ended the iteration
  bool no_row = false;        // this iteration found no row of data left: it does not count
  bool waited = false;        // for a response or a sleep, in this iteration
  std::uint8_t in_a_row = 0;  // iterations and rounds since it last waited or gave way
};

}  // namespace muster::engine
