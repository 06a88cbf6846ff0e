#include "sim/fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace muster::sim {

std::string_view name_of(FaultKind kind) {
  static constexpr std::array<std::string_view, kFaultKinds> kNames = {
      "loss",       "delay",       "duplicate", "reorder",  "replay",     "corrupt",    "raw",       "garbage",
      "partition",  "one-way",     "partial",   "bridge",   "isolate",    "swizzle",    "crash",     "move",
      "torn-write", "restart-all", "pause",     "slow",     "clock-leap", "clock-rate", "disk-full", "disk-error",
      "disk-stall", "half-open",   "resolver",  "overload", "site-loss"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string Fault::describe() const {
  return fmt::format("{:<11} from {:8.3f} s for {:7.3f} s, strength {:.2f}{}", name_of(kind), base::seconds(begin),
                     base::seconds(length), strength, aimed ? ", aimed" : "");
}

FaultProfile FaultProfile::everything(std::uint32_t least, std::uint32_t most) {
  FaultProfile profile;
  profile.weights.fill(1);
  profile.least = least;
  profile.most = most;
  return profile;
}

FaultPlan draw_plan(const FaultProfile& profile, base::Duration from, base::Duration until, base::Random& random) {
  std::vector<std::pair<FaultKind, double>> kinds;
  double total = 0;
  for (std::size_t i = 0; i < kFaultKinds; ++i) {
    const bool chosen = random.unit() < profile.share_of_kinds;
    if (profile.weights[i] <= 0 || !chosen) continue;
    total += profile.weights[i];
    kinds.emplace_back(static_cast<FaultKind>(i), total);
  }
  FaultPlan plan;
  if (kinds.empty() || until <= from) return plan;
  const std::uint64_t count = profile.least + random.below(profile.most - profile.least + 1);
  for (std::uint64_t i = 0; i < count; ++i) {
    const double drawn = random.unit() * total;
    const auto kind = std::ranges::find_if(kinds, [drawn](const auto& each) { return drawn < each.second; });
    Fault fault{.kind = kind == kinds.end() ? kinds.back().first : kind->first};
    fault.begin =
        from +
        base::Duration(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>((until - from).count()))));
    // Whole milliseconds, so that a plan told in words is the plan.
    const double share = std::pow(10.0, -2 * random.unit());
    fault.length = std::min(std::chrono::duration_cast<std::chrono::milliseconds>(
                                base::from_seconds(base::seconds(profile.longest) * share)),
                            std::chrono::duration_cast<std::chrono::milliseconds>(until - fault.begin));
    fault.begin = std::chrono::duration_cast<std::chrono::milliseconds>(fault.begin);
    fault.aimed = random.below(2) == 0;
    fault.strength = random.unit() * profile.strength;
    fault.choice = random.next();
    plan.push_back(fault);
  }
  std::ranges::sort(plan, {}, [](const Fault& fault) { return std::pair(fault.begin, fault.choice); });
  return plan;
}

}  // namespace muster::sim
