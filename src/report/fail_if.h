// `--fail-if "p95 +10%"`: the changes against a baseline that fail a run. Written as a metric, optionally where, and
// how much more or less: "p95 step=login +20ms", "rate -5%", "failed +1%". Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "report/compare.h"
#include "report/comparison.h"

namespace muster::report {

// Longest condition that is read, in bytes: names of steps included.
constexpr std::size_t kMaxConditionBytes = 4'096;

struct FailIf {
  std::string text;      // as written
  std::string metric;    // as in Delta
  std::string workflow;  // empty: any
  std::string step;      // empty: the whole run
  // Above 0: fails when the metric rose by more; below 0: when it fell by more. Relative: a fraction of the baseline;
  // otherwise seconds, requests a second, or a share (of "failed", where "+1%" means one more of a hundred requests).
  double limit = 0;
  bool relative = true;
};

// Errors tell what would have been right.
base::Expected<FailIf> parse_fail_if(std::string_view text);

// Fills comparison.conditions. A condition fires if the change is beyond its limit and more than chance (corrected for
// the number of conditions); `max`, of which nothing is known but its value, fires by its value alone.
void judge_conditions(Comparison& comparison, const std::vector<FailIf>& conditions,
                      const CompareOptions& options = {});

}  // namespace muster::report
