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
  // Brings result() up to date. True if it changed.
  virtual bool poll() = 0;
  // Over, for whatever reason; result() is final and its state says how it ended.
  virtual bool finished() const = 0;
  virtual const model::WorkflowResult& result() const = 0;
};

std::unique_ptr<Runner> make_in_process_runner(std::unique_ptr<Engine> engine);
std::unique_ptr<Runner> make_process_runner(std::unique_ptr<Engine> engine);

// Appends what `part` holds of the series (ascending) to `whole`. What a core that fell behind says of a second that is
// there already is added to it.
void append_series(model::WorkflowResult& whole, model::WorkflowResult&& part);

}  // namespace muster::engine
