// The scenarios of membership.
#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/swim_world.h"

namespace muster::sim {
namespace {

// A measure that must lie within bounds; judged once there are enough of it.
struct Bounds {
  std::string_view measure;
  double share;  // which of the values, in their order
  double least;
  double most;
  std::string_view invariant;
};

std::optional<Violation> judge(const Totals& totals, std::span<const Bounds> all) {
  constexpr std::size_t kEnough = 100;
  for (const Bounds& expected : all) {
    const auto found = totals.measures.find(expected.measure);
    if (found == totals.measures.end() || found->second.size() < kEnough) continue;
    const double value = percentile(found->second, expected.share);
    if (value >= expected.least && value <= expected.most) continue;
    return Violation{.invariant = std::string(expected.invariant),
                     .sentence = fmt::format("{}: p{:g} is {:.2f}, expected is {} to {}", expected.measure,
                                             100 * expected.share, value, expected.least, expected.most)};
  }
  return std::nullopt;
}

// The victim of a crash is probed after 1.58 intervals on average, a failed probe takes one more, and confirmations
// must come in time for the suspicion to end at its shortest; that all know takes gossip a fraction of an interval more
// (of 2,000 runs half took 1.7 in all, and 99 of 100 under 5.4). Every member probes once per interval, neither oftener
// nor, at little loss, much less. Joins are known to nearly all by gossip, long before views are exchanged; but with m
// packets about an update from each node that has it (2 to 8 here) a share s = exp(-m (1 - s)) is passed by, 20 % to
// 0.03 %: these are told by the exchanges that follow.
constexpr Bounds kGentle[] = {
    {kSwimDetection, 0.5, 0, 4, "22"},      {kSwimDetection, 0.99, 0, 16, "22"},
    {kSwimDetectionByAll, 0.5, 0, 4, "22"}, {kSwimDetectionByAll, 0.99, 0, 8, "22"},
    {kSwimProbes, 0.05, 0.85, 1.02, "22"},  {kSwimProbes, 1, 0.85, 1.02, "22"},
    {kSwimAcquainted, 0.5, 0, 2, "20"},     {kSwimAcquaintedShare, 0.99, 0, 1, "20"},
};

KernelOptions unruly(base::Random& random) {
  KernelOptions options;
  options.network.unruly_streams = random.below(2) == 0;
  return options;
}

}  // namespace

void add_swim_scenarios(std::vector<Scenario>& scenarios) {
  using std::chrono::seconds;
  Scenario faults;
  faults.name = "swim";
  faults.summary = "membership of 3 to 20 nodes under every fault; views agree with the truth afterwards";
  faults.watches = {"19",         "20",        "23",    "24", "25", "state-order",
                    "life-order", "suspicion", "audit", "27", "30", "time"};
  faults.make = [](std::uint64_t seed) { return make_swim_world(seed, {}); };
  faults.options = unruly;
  faults.faults = FaultProfile::everything(5, 20).with(FaultKind::kRaw, 0);
  faults.faults.longest = seconds(60);
  faults.safety = seconds(120);
  faults.liveness = seconds(180);
  faults.counters = {"buddy told",          "dead learned by exchange",
                     "gossip overflow",     "indirect rescue",
                     "member cleared",      "member dead",
                     "member left",         "member moved",
                     "member removed",      "nack received",
                     "nack missing",        "probe skipped",
                     "refutation",          "score raised",
                     "stall noticed",       "stream rescue",
                     "state changed",       "suspect probed again",
                     "suspicion confirmed", "life began behind an earlier one"};
  demand_faults(faults);
  faults.enough_seeds = 200;
  scenarios.push_back(faults);

  Scenario loss = faults;
  loss.name = "swim-loss";
  loss.summary = "membership at up to 5 % loss: nobody healthy is held dead, and a crash is found by all in time";
  loss.watches = {"19", "21", "22", "23", "25", "state-order", "life-order", "suspicion", "audit", "27", "30", "time"};
  loss.judge = [](const Totals& totals) { return judge(totals, kGentle); };
  loss.make = [](std::uint64_t seed) { return make_swim_world(seed, {.gentle = true}); };
  loss.options = nullptr;
  loss.faults = FaultProfile{}.with(FaultKind::kLoss);
  loss.faults.least = 1;
  loss.faults.most = 4;
  loss.faults.longest = seconds(60);
  loss.faults.strength = 0.1;  // of a half
  loss.faults.share_of_kinds = 1;
  loss.safety = seconds(120);
  loss.liveness = base::Duration::zero();
  loss.counters = {"indirect rescue", "member dead", "stream rescue"};
  scenarios.push_back(loss);

  Scenario garbled = faults;
  garbled.name = "swim-garbled";
  garbled.summary = "membership with packets that were changed on their way and random bytes: nothing breaks or grows";
  garbled.watches = {"23", "25", "27", "audit", "30", "time"};
  garbled.make = [](std::uint64_t seed) { return make_swim_world(seed, {.garbled = true}); };
  garbled.faults = FaultProfile{}.with(FaultKind::kRaw, 4).with(FaultKind::kGarbage, 4).with(FaultKind::kReplay);
  garbled.faults.with(FaultKind::kCrash).with(FaultKind::kLoss);
  garbled.faults.least = 4;
  garbled.faults.most = 12;
  garbled.faults.longest = seconds(30);
  garbled.faults.share_of_kinds = 1;
  garbled.safety = seconds(60);
  garbled.liveness = base::Duration::zero();
  garbled.counters = {"other group or malformed"};
  scenarios.push_back(garbled);
}

}  // namespace muster::sim
