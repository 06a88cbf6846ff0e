#include "console/progress_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <thread>
#include <utility>

#include "console/say.h"
#include "console/screen/full_view.h"
#include "console/screen/run_plan.h"
#include "console/ui_mode.h"
#include "report/ci_line.h"

namespace muster::console {
namespace {

constexpr auto kLineInterval = std::chrono::seconds(2);

report::RunLength length_of(const RunPlan& plan) {
  report::RunLength length;
  base::Duration longest{};
  for (const WorkflowPlan& workflow : plan.workflows) {
    if (!workflow.length || !workflow.depends.empty()) return {};
    longest = std::max(longest, *workflow.length);
  }
  length.time = longest;
  return length;
}

// A line every two seconds, or nothing but what must be said.
class LineView final : public ProgressView {
 public:
  explicit LineView(std::optional<report::CiLine> line) : line_(std::move(line)) {}

  void show(const model::RunResult& snapshot) override {
    if (!line_ || snapshot.elapsed < next_) return;
    next_ = snapshot.elapsed + kLineInterval;
    say(stderr, "{}\n", line_->next(snapshot));
  }
  void stopping(std::string_view text) override { say(stderr, "{}\n", text); }
  std::vector<Wish> wait(base::Duration longest) override {
    std::this_thread::sleep_for(longest);
    return {};
  }
  void end() override {}

 private:
  std::optional<report::CiLine> line_;
  base::Duration next_ = std::chrono::seconds(1);
};

}  // namespace

base::Expected<std::unique_ptr<ProgressView>> make_view(const std::string& ui, bool colour, const model::Job& job,
                                                        const engine::Registry& registry) {
  const RunPlan plan = run_plan(job, registry.shapes);
  const Surroundings around = look_around();
  const UiMode mode = choose_ui(ui, around);
  if (mode == UiMode::kNone) return std::make_unique<LineView>(std::nullopt);
  if (mode == UiMode::kFull) {
    auto full = make_full_view(plan, {.unicode = unicode_wanted(around), .colour = colour});
    if (full) return std::move(*full);
    if (ui == "full") {
      return base::fail(
          fmt::format("--ui full needs a terminal: {}; use --ui ci, or leave --ui out", full.error().message));
    }
  }
  // As the summary decides.
  const bool unicode = !around.error_terminal || unicode_wanted(around);
  return std::make_unique<LineView>(report::CiLine(length_of(plan), unicode));
}

}  // namespace muster::console
