// How a workflow's engine is driven, wherever it runs: start it, send it commands, look at its latest result. Two
// implementations: in an executor process of its own (what `muster run` does, so that a crash or a runaway script harms
// nobody else and loses nothing) and in the caller's process (tests, `muster try`).
#pragma once

#include <memory>

#include "base/error.h"
#include "engine/engine.h"
#include "model/result.h"

namespace muster::engine {

class Runner {
 public:
  virtual ~Runner() = default;

  virtual base::Expected<void> start() = 0;
  virtual void command(const Command& command) = 0;
  // Brings `result` up to date. True if it changed. It is the caller's, who hands in the same one every time and leaves
  // its numbers alone; a look costs what changed, not what was gathered since the start. See update().
  virtual bool poll(model::WorkflowResult& result) = 0;
  // Over, for whatever reason; the result of the latest poll() is final and its state says how it ended.
  virtual bool finished() const = 0;
};

std::unique_ptr<Runner> make_in_process_runner(std::unique_ptr<Engine> engine);
std::unique_ptr<Runner> make_process_runner(std::unique_ptr<Engine> engine);

// What a look found: `totals`, which have no series, take the place of those in `result`; `series`, which has only what
// was not told before, is added. A reason stays, unless `totals` bring one.
void update(model::WorkflowResult& result, model::WorkflowResult&& totals, model::WorkflowResult&& series);

}  // namespace muster::engine
