#include <algorithm>

#include "engine/runner.h"

namespace muster::engine {
namespace {

class InProcessRunner final : public Runner {
 public:
  explicit InProcessRunner(std::unique_ptr<Engine> engine) : engine_(std::move(engine)), result_(engine_->totals()) {}

  base::Expected<void> start() override { return engine_->start(); }
  void command(const Command& command) override { engine_->command(command); }

  bool poll() override {
    if (finished_) return false;
    const bool over = engine_->finished();
    if (over) engine_->join();
    const bool changed = engine_->poll() || over;
    if (!changed) return false;
    model::WorkflowResult fresh = engine_->totals();
    fresh.series = std::move(result_.series);
    for (std::size_t i = 0; i < fresh.steps.size(); ++i) fresh.steps[i].series = std::move(result_.steps[i].series);
    result_ = std::move(fresh);
    append_series(result_, engine_->take_series());
    if (over) {
      finished_ = true;
      result_.state = model::WorkflowState::kCompleted;
    }
    return true;
  }

  bool finished() const override { return finished_; }
  const model::WorkflowResult& result() const override { return result_; }

 private:
  std::unique_ptr<Engine> engine_;
  model::WorkflowResult result_;
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<Runner> make_in_process_runner(std::unique_ptr<Engine> engine) {
  return std::make_unique<InProcessRunner>(std::move(engine));
}

namespace {

void add(model::WorkflowSecond& into, const model::WorkflowSecond& more) {
  into.vus += more.vus;
  into.iterations += more.iterations;
  into.dropped += more.dropped;
}

void add(model::StepSecond& into, const model::StepSecond& more) {
  into.ok += more.ok;
  into.failed += more.failed;
  into.bytes_in += more.bytes_in;
  into.bytes_out += more.bytes_out;
  into.latency.merge(more.latency);
}

template <class Point>
void append(std::vector<Point>& into, std::vector<Point>& from) {
  for (Point& point : from) {
    const auto place = std::lower_bound(into.begin(), into.end(), point.second,
                                        [](const Point& each, std::uint32_t second) { return each.second < second; });
    if (place != into.end() && place->second == point.second) {
      add(*place, point);
    } else {
      into.insert(place, std::move(point));
    }
  }
}

}  // namespace

void append_series(model::WorkflowResult& whole, model::WorkflowResult&& part) {
  append(whole.series, part.series);
  for (std::size_t i = 0; i < std::min(whole.steps.size(), part.steps.size()); ++i) {
    append(whole.steps[i].series, part.steps[i].series);
  }
}

}  // namespace muster::engine
