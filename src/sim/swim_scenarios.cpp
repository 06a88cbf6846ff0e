// The scenarios of membership.
#include <fmt/format.h>

#include <optional>

#include "sim/swim_world.h"

namespace muster::sim {
namespace {

// Every member probes once per interval: neither oftener, nor much less at little loss.
std::optional<Violation> judge_probes(const Totals& totals) {
  const auto found = totals.measures.find(kSwimProbes);
  if (found == totals.measures.end()) return std::nullopt;
  const double least = percentile(found->second, 0.05);
  const double most = percentile(found->second, 1);
  if (least >= 0.85 && most <= 1.02) return std::nullopt;
  return Violation{.invariant = "22",
                   .sentence = fmt::format("members probe {:.2f} to {:.2f} times per interval", least, most)};
}

// The victim is probed after 1.58 intervals on average, a failed probe takes one more, and confirmations must come in
// time for the suspicion to end at its shortest.
std::optional<Violation> judge_detection(const Totals& totals) {
  constexpr std::size_t kEnough = 100;
  constexpr double kMedian = 4;
  constexpr double kLongest = 16;
  const auto found = totals.measures.find(kSwimDetection);
  if (found == totals.measures.end() || found->second.size() < kEnough) return std::nullopt;
  const double median = percentile(found->second, 0.5);
  const double late = percentile(found->second, 0.99);
  if (median <= kMedian && late <= kLongest) return std::nullopt;
  return Violation{
      .invariant = "22",
      .sentence = fmt::format("crashes are found {:.1f} intervals after the shortest suspicion, p99 {:.1f}; "
                              "{} and {} are expected at most",
                              median, late, kMedian, kLongest)};
}

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
  faults.faults.longest = seconds(30);
  faults.safety = seconds(90);
  faults.liveness = seconds(180);
  faults.counters = {"buddy told",         "dead learned by exchange",
                     "gossip overflow",    "indirect rescue",
                     "member cleared",     "member dead",
                     "member left",        "member moved",
                     "member removed",     "nack received",
                     "nack missing",       "probe skipped",
                     "refutation",         "score raised",
                     "stall noticed",      "stream rescue",
                     "state changed",      "suspect probed again",
                     "suspicion confirmed"};
  faults.enough_seeds = 200;
  scenarios.push_back(faults);

  Scenario loss = faults;
  loss.name = "swim-loss";
  loss.summary = "membership at up to 5 % loss: nobody healthy is held dead, and a crash is found by all in time";
  loss.watches = {"19", "21", "22", "23", "25", "state-order", "life-order", "suspicion", "audit", "27", "30", "time"};
  loss.judge = [](const Totals& totals) {
    const std::optional<Violation> slow = judge_detection(totals);
    return slow ? slow : judge_probes(totals);
  };
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
