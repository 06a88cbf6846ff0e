// The data plane of one workflow: its cores, and the thread that adds up what they record. Runs in an executor process
// (executor.h) or, for tests, `muster try` and embedders, in the caller's own: the results are the same.
//
// Life: construct, start(), then poll() now and then until finished(); stop() or the destructor joins the threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "authoring/loader.h"
#include "base/error.h"
#include "base/random.h"
#include "base/time.h"
#include "engine/core.h"
#include "engine/load_shape.h"
#include "engine/program.h"
#include "engine/protocol.h"
#include "engine/pulse.h"
#include "engine/recording.h"
#include "engine/script.h"
#include "engine/tag_sets.h"
#include "engine/unique_rows.h"
#include "model/job.h"
#include "model/result.h"
#include "reactor/resolver.h"

namespace muster::engine {

// All that the engine knows about protocols, kinds and shapes, its own and those registered from outside.
struct Registry {
  model::StepKinds kinds;
  Protocols protocols;
  LoadShapes shapes;
  ScriptLanguages scripts;
  std::vector<authoring::LoadShapeKey> shape_keys;  // what `load:` of a shape from outside looks like
};
Registry built_in_registry();

// The part of a workflow that one engine runs.
struct PlanSlice {
  const model::Job* job = nullptr;
  const model::Workflow* workflow = nullptr;
  std::uint32_t cores = 1;
  std::uint64_t seed = 0;
  base::Instant run_began{};                // its seconds are those of the series; zero: with this engine
  const UniqueRows* unique_rows = nullptr;  // shared with other workflows of the run; null: it has its own
  ReceivedContext received;
  TraceSink trace;
};

// What a workflow's random numbers start from, by the run's seed and its place in the job.
constexpr std::uint64_t seed_of(std::uint64_t run, std::uint64_t workflow) {
  return base::mix(run + workflow);
}

class Engine {
 public:
  // Compiles the workflow; errors are the user's to mend.
  static base::Expected<std::unique_ptr<Engine>> make(const PlanSlice& slice, const Registry& registry);

  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Set before start(): what is done when start() or join() cannot come back from the script.
  void set_give_up(GiveUp give_up) { give_up_ = std::move(give_up); }
  // Starts the cores' threads, waits until all are prepared, and lets them begin together.
  base::Expected<void> start();
  void command(const Command& command);

  // Takes in what the cores have handed over. True if there was anything.
  bool poll();
  bool finished() const;
  // Why the workflow could not go on; empty: it could.
  const std::string& failure() const { return failure_; }
  // Asked now and then: why it has to be given up, because a core does not come back from its script; empty: no reason.
  std::string stuck(base::Instant now);
  // Joins the threads and takes in the rest; the result is then complete.
  void join();

  // Totals so far; the series of whole seconds comes from take_series(), each second once.
  model::WorkflowResult& totals() { return collector_.totals(); }
  model::WorkflowResult take_series();
  // Of the seconds that are not whole yet.
  const model::WorkflowResult& open_series() const { return collector_.open_series(); }
  const Program& program() const { return *program_; }

 private:
  Engine(std::unique_ptr<Program> program, std::unique_ptr<LoadShape> shape, std::unique_ptr<ScriptProgram> script,
         const Registry& registry, const PlanSlice& slice);

  void run_core(std::size_t index);
  bool drain();
  // Takes what the cores hand over until they have finished, or time is over.
  void drain_until(base::Instant deadline);
  // Before the process ends: ends the cores that can be ended, and takes from all of them what they recorded last.
  void collect_last();

  std::unique_ptr<Program> program_;
  std::unique_ptr<LoadShape> shape_;
  const Registry& registry_;
  reactor::ResolverThread resolver_;
  TagSets tags_;
  GiveUp give_up_;
  std::unique_ptr<ScriptProgram> script_;  // before the cores, which it outlives
  std::vector<std::unique_ptr<Core>> cores_;
  std::vector<std::thread> threads_;
  Collector collector_;
  std::string failure_;
  std::vector<Pulse> pulses_;  // of the cores
  base::Instant last_look_{};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t ready_ = 0;
  bool go_ = false;
  bool cancelled_ = false;
  std::string error_;
  base::Instant run_began_;
  base::Instant epoch_{};
  RunSeconds seconds_;
};

}  // namespace muster::engine
