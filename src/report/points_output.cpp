#include "report/points_output.h"

#include <optional>
#include <string>
#include <utility>

#include "report/points.h"

namespace muster::report {
namespace {

class PointsOutput final : public Output {
 public:
  PointsOutput(std::unique_ptr<PointFormat> format, std::unique_ptr<LineTarget> target)
      : format_(std::move(format)), target_(std::move(target)) {}

  base::Expected<void> open(const RunInfo& run) override {
    info_ = run;
    info_.source.clear();
    return target_->open();
  }

  base::Expected<void> write(const model::RunResult& snapshot) override {
    begin(snapshot);
    source_.observe(snapshot, [this](const SecondPoints& points) { put(points); });
    return target_->look();
  }

  void compared(const Comparison& comparison) override { comparison_ = comparison; }

  base::Expected<void> finish(const model::RunResult& result) override {
    begin(result);
    source_.finish(result, [this](const SecondPoints& points) { put(points); });
    const std::string last = format_->last(result, comparison_ ? &*comparison_ : nullptr);
    if (!last.empty()) target_->put(last);
    return target_->close();
  }

 private:
  // Not when it is opened: a run that is refused must not cost the user the file of the run before.
  void begin(const model::RunResult& run) {
    if (std::exchange(begun_, true)) return;
    info_.started = run.started;
    target_->put(format_->first(info_));
  }

  void put(const SecondPoints& points) {
    for (const std::string& line : format_->lines(points)) target_->put(line);
  }

  std::unique_ptr<PointFormat> format_;
  std::unique_ptr<LineTarget> target_;
  RunInfo info_;
  std::optional<Comparison> comparison_;
  bool begun_ = false;
  PointSource source_;
};

}  // namespace

std::unique_ptr<Output> points_output(std::unique_ptr<PointFormat> format, std::unique_ptr<LineTarget> target) {
  return std::make_unique<PointsOutput>(std::move(format), std::move(target));
}

}  // namespace muster::report
