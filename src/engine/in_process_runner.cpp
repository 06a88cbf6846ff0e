#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "engine/runner.h"

namespace muster::engine {
namespace {

// A thread that never comes back can be ended no other way than with its process.
void end_process(const std::string& reason) {
  fmt::print(stderr, "{}\n", reason);
  std::_Exit(1);
}

class InProcessRunner final : public Runner {
 public:
  explicit InProcessRunner(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {
    engine_->set_give_up(&end_process);
  }

  base::Expected<void> start() override { return engine_->start(); }
  void command(const Command& command) override { engine_->command(command); }

  bool poll(model::WorkflowResult& result) override {
    if (finished_) return false;
    if (const std::string reason = engine_->stuck(base::now()); !reason.empty()) end_process(reason);
    const bool over = engine_->finished();
    if (over) engine_->join();
    const bool changed = engine_->poll() || over;
    if (!changed) return false;
    update(result, model::WorkflowResult(engine_->totals()), engine_->take_series());
    if (over) {
      finished_ = true;
      const std::string& failure = engine_->failure();
      result.state = failure.empty() ? model::WorkflowState::kCompleted : model::WorkflowState::kFailed;
      if (!failure.empty()) result.reason = failure;
    }
    return true;
  }

  bool finished() const override { return finished_; }

 private:
  std::unique_ptr<Engine> engine_;
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<Runner> make_in_process_runner(std::unique_ptr<Engine> engine) {
  return std::make_unique<InProcessRunner>(std::move(engine));
}

}  // namespace muster::engine
