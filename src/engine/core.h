// One core of the data plane: a loop, the VUs it runs, and what it records. Everything in it belongs to the thread that
// calls run(); other threads send it commands and take finished recordings.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "engine/interpreter.h"
#include "engine/load_shape.h"
#include "engine/program.h"
#include "engine/protocol.h"
#include "engine/recording.h"
#include "engine/run_seconds.h"
#include "engine/scheduler.h"
#include "engine/split.h"
#include "engine/tag_sets.h"
#include "reactor/loop.h"
#include "reactor/mailbox.h"
#include "reactor/resolver.h"

namespace muster::engine {

struct Command {
  enum class Kind : std::uint8_t { kStop, kAbort, kPause, kResume, kScale };
  Kind kind = Kind::kStop;
  double factor = 1.0;  // kScale
};

struct CoreContext {
  const Program& program;
  const LoadShape& shape;
  const Protocols& protocols;
  reactor::ResolverThread& resolver;
  TagSets& tags;                    // of all cores
  ScriptProgram* script = nullptr;  // of a scripted program
  Slice slice;
  std::uint64_t seed = 0;
  TraceSink trace;
  std::function<void()> stop_all;  // ends the workflow on every core
};

class Core {
 public:
  explicit Core(const CoreContext& context);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  ~Core();

  // On the core's thread: prepares clients and resolves names; may block.
  base::Expected<void> open();
  // On the core's thread: runs the load from `epoch` until it is over. The series counts by `seconds`.
  void run(base::Instant epoch, const RunSeconds& seconds);

  // Any thread.
  void send(const Command& command) { mailbox_.push(command); }
  RecordingPair& recordings() { return recordings_; }
  bool finished() const { return finished_.load(std::memory_order_acquire); }
  // Grows while the core comes back to its loop.
  std::uint64_t ticks() const { return ticks_.load(std::memory_order_relaxed); }
  // What its thread has computed; once it is open. Zero when the thread has ended.
  base::Duration cpu() const;
  // What a core that does not come back from its script has recorded since it last handed over, which ends the core;
  // null if it is not inside its script.
  const Recording* seize();

 private:
  struct Tick : reactor::Timer {
    Tick(Fire fire, Core& owner) : Timer(fire), core(&owner) {}
    Core* core;
  };

  void deliver(const Command& command);
  void tick();
  void stamp(base::Instant now);
  void count_from(base::Instant when);
  void begin_counting();
  void pause();
  void resume();
  void arm_tick();
  void hand_over_last();

  const CoreContext context_;
  reactor::Loop loop_;
  RecordingPair recordings_;
  Interpreter interpreter_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::unique_ptr<Script> script_;
  std::unique_ptr<Scheduler> scheduler_;
  reactor::Mailbox<Command> mailbox_;
  Tick tick_;
  base::Instant epoch_{};
  base::Instant counted_from_{};                // kNever during a pause of the warm-up
  std::optional<base::Duration> warm_up_left_;  // when that pause began
  base::Instant last_finish_{};
  RunSeconds seconds_;
  clockid_t cpu_clock_ = CLOCK_THREAD_CPUTIME_ID;  // of the core's thread, for any thread
  base::Duration cpu_at_start_{};
  bool counting_ = false;
  std::atomic<bool> finished_{false};
  std::atomic<std::uint64_t> ticks_{0};
};

}  // namespace muster::engine
