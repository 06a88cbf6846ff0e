#include "console/progress_view.h"

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <thread>
#include <utility>

#include "console/plan.h"
#include "console/say.h"
#include "console/screen/full_view.h"
#include "console/screen/run_plan.h"
#include "console/ui_mode.h"
#include "report/ci_line.h"

namespace muster::console {
namespace {

constexpr auto kLineInterval = std::chrono::seconds(2);

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
  void stood_still(base::Duration time) override {
    if (line_) line_->stood_still(time);
  }
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
                                                        const engine::Registry& registry, std::uint32_t cores) {
  const Surroundings around = look_around();
  const UiMode mode = choose_ui(ui, around);
  if (mode == UiMode::kNone) return std::make_unique<LineView>(std::nullopt);
  const auto plan = make_plan(job, registry, {.cores = cores, .open_files = 0});
  if (!plan) return std::unexpected(plan.error());
  if (mode == UiMode::kFull) {
    std::vector<std::vector<std::size_t>> turns;
    for (const auto& layer : plan->layers) turns.insert(turns.end(), layer.begin(), layer.end());
    auto full = make_full_view(run_plan(job, registry.shapes, std::move(turns)),
                               {.unicode = unicode_wanted(around), .colour = colour});
    if (full) return std::move(*full);
    if (ui == "full") {
      return base::fail(
          fmt::format("--ui full needs a terminal: {}; use --ui ci, or leave --ui out", full.error().message));
    }
  }
  // As the summary decides.
  const bool unicode = !around.error_terminal || unicode_wanted(around);
  report::RunLength length;
  if (plan->length != base::Duration::max()) length.time = plan->length;
  return std::make_unique<LineView>(report::CiLine(length, unicode));
}

}  // namespace muster::console
