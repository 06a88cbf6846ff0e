#include "report/ci_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/histogram.h"
#include "report/figures.h"
#include "report/text_layout.h"

namespace muster::report {
namespace {

struct Now {
  std::uint64_t requests = 0;
  std::uint64_t failed = 0;
  std::uint64_t iterations = 0;
  std::uint64_t vus = 0;
  bool warming_up = false;
  base::Duration measured{};         // time of the run up to which the counts go; they lag behind the present
  metrics::CoarseHistogram latency;  // of the seconds that were not told yet
  std::vector<std::string_view> running;
};

Now gather(const model::RunResult& snapshot, std::vector<std::vector<std::size_t>>& told) {
  Now now;
  bool counting = false;
  told.resize(snapshot.workflows.size());
  for (std::size_t i = 0; i != snapshot.workflows.size(); ++i) {
    const model::WorkflowResult& workflow = snapshot.workflows[i];
    if (workflow.elapsed > base::Duration::zero()) {
      now.measured = std::max(now.measured, workflow.began + workflow.elapsed);
    }
    told[i].resize(workflow.steps.size());
    now.iterations += workflow.iterations;
    now.vus += workflow.vus;
    if (workflow.state == model::WorkflowState::kRunning) {
      now.running.push_back(workflow.name);
      (workflow.warming_up ? now.warming_up : counting) = true;
    }
    for (std::size_t j = 0; j != workflow.steps.size(); ++j) {
      const model::StepResult& step = workflow.steps[j];
      if (step.role != model::StepRole::kTest) continue;
      now.requests += step.ok + step.failed;
      now.failed += step.failed;
      for (std::size_t& second = told[i][j]; second < step.series.size(); ++second) {
        now.latency.merge(step.series[second].latency);
      }
    }
  }
  now.warming_up = now.warming_up && !counting;
  if (now.measured == base::Duration::zero()) now.measured = snapshot.elapsed;
  return now;
}

// How much of the time between two moments of the run was counted by some workflow; all of it if none was.
base::Duration counted_between(const model::RunResult& snapshot, base::Duration from, base::Duration until) {
  const base::Duration whole = until - from;
  std::vector<std::pair<base::Duration, base::Duration>> stretches;
  for (const model::WorkflowResult& workflow : snapshot.workflows) {
    stretches.emplace_back(workflow.began, std::min(workflow.began + workflow.elapsed, until));
  }
  std::ranges::sort(stretches);
  base::Duration counted{};
  for (const auto& [begin, end] : stretches) {
    const base::Duration fresh = end - std::max(begin, from);
    if (fresh <= base::Duration::zero()) continue;
    counted += fresh;
    from = end;
  }
  return counted > base::Duration::zero() ? counted : whole;
}

std::string progress(const RunLength& length, base::Duration elapsed, std::uint64_t iterations) {
  double done = -1;
  std::string left;
  if (length.time && *length.time > base::Duration::zero()) {
    done = base::seconds(elapsed) / base::seconds(*length.time);
    const base::Duration rest = std::chrono::ceil<std::chrono::seconds>(*length.time - elapsed);
    if (rest > base::Duration::zero()) left = fmt::format(", {} left", clock_time(rest));
  }
  if (length.iterations && *length.iterations > 0) {
    const double share = static_cast<double>(iterations) / static_cast<double>(*length.iterations);
    if (share > done) {
      done = share;
      // At the pace so far; nothing is said before a hundredth of the work shows what that is.
      const double rest = share > 0.01 ? base::seconds(elapsed) * (1 / share - 1) : 0;
      left = rest >= 1 ? fmt::format(", about {} left", clock_time(base::from_seconds(std::ceil(rest)))) : "";
    }
  }
  if (done < 0) return {};
  return fmt::format("{:3.0f}%{}", std::floor(std::min(done, 1.0) * 100), left);
}

}  // namespace

std::string CiLine::next(const model::RunResult& snapshot) {
  const Now now = gather(snapshot, told_);
  const base::Duration passed = counted_between(snapshot, last_at_, now.measured);
  const std::uint64_t fresh = now.requests - std::min(last_requests_, now.requests);
  const double rate = passed > base::Duration::zero() ? static_cast<double>(fresh) / base::seconds(passed) : 0;
  last_at_ = now.measured;
  last_requests_ = now.requests;

  std::string line = fmt::format("[{}]", clock_time(snapshot.elapsed));
  const auto add = [&](const std::string& part) { line += "  " + part; };
  const base::Duration loaded = std::max(snapshot.elapsed - stood_still_, base::Duration::zero());
  if (const std::string done = progress(length_, loaded, now.iterations); !done.empty()) add(done);
  add(fmt::format("{} VU{}", grouped(now.vus), now.vus == 1 ? "" : "s"));
  if (now.warming_up) {
    add("warming up");
    return line;
  }
  add(short_rate(rate) + "/s");
  add(fmt::format("{} request{}", grouped(now.requests), now.requests == 1 ? "" : "s"));
  add(now.failed == 0 ? std::string("0 failed")
                      : fmt::format("{} failed ({})", short_count(now.failed), percentage(now.failed, now.requests)));
  if (!now.latency.empty()) add("p95 " + short_time(now.latency.quantile(0.95), unicode_));
  if (snapshot.workflows.size() > 1 && !now.running.empty()) {
    std::string names;
    for (const std::string_view name : now.running) names += (names.empty() ? "" : ", ") + printable(name, false);
    constexpr std::size_t kColumns = 100;
    const std::size_t used = width(line) + 4;
    if (used + 6 <= kColumns) add("(" + shortened(names, kColumns - used, false) + ")");
  }
  return line;
}

}  // namespace muster::report
