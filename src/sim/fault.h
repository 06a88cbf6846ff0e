// What can go wrong, and a plan of it: which faults strike whom, from when and until when. A plan is drawn from the
// seed by a profile, is plain data, can be told in words and cut down to what a violation needs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/time.h"

namespace muster::sim {

enum class FaultKind : std::uint8_t {
  kLoss,   // packets of some nodes, or of all, get lost
  kDelay,  // they take longer, with a tail
  kDuplicate,
  kReorder,
  kReplay,      // old packets come again
  kCorrupt,     // bits flip; the envelope drops the packet
  kRaw,         // bits flip, and the packet reaches the process all the same
  kGarbage,     // packets of random bytes, in a node's name
  kPartition,   // two groups, nothing passes between them
  kOneWay,      // one group's packets do not reach the other
  kPartial,     // some pairs of nodes cannot talk
  kBridge,      // two groups, and one node that both can reach
  kIsolate,     // one node is cut off
  kSwizzle,     // links stop node by node and come back in another order
  kCrash,       // what was not durable is gone
  kMove,        // a crash, and a restart at a new address
  kTornWrite,   // a crash in the middle of an append
  kRestartAll,  // everybody at once
  kPause,       // longer than leases and time-outs
  kSlow,        // every event takes its time
  kClockLeap,
  kClockRate,  // between half and double
  kDiskFull,
  kDiskError,
  kDiskStall,
  kHalfOpen,  // streams of a node die without a word
  kResolver,  // names do not resolve, or to an old address
  kOverload,  // a burst of work
  kSiteLoss,  // a datacenter is gone for a while
};

constexpr std::size_t kFaultKinds = static_cast<std::size_t>(FaultKind::kSiteLoss) + 1;

std::string_view name_of(FaultKind kind);

struct Fault {
  FaultKind kind;
  base::Duration begin{};
  base::Duration length{};
  bool aimed = false;        // at whom the world points to when it begins, rather than at anybody
  double strength = 0;       // between 0 and 1: how bad, by kind
  std::uint64_t choice = 0;  // seed of what is chosen when it begins: nodes, sides, orders

  std::string describe() const;
};

using FaultPlan = std::vector<Fault>;

// Which faults a scenario wants: a weight for each kind (0: never), how many, how long and how strong.
struct FaultProfile {
  std::array<double, kFaultKinds> weights{};
  std::uint32_t least = 0;
  std::uint32_t most = 0;
  base::Duration longest = std::chrono::seconds(10);  // lengths spread over two orders of magnitude below it
  double strength = 1;                                // upper bound
  double share_of_kinds = 0.5;  // each seed has this share of the kinds, for few faults together hide one another less

  FaultProfile& with(FaultKind kind, double weight = 1) {
    weights[static_cast<std::size_t>(kind)] = weight;
    return *this;
  }
  double weight(FaultKind kind) const { return weights[static_cast<std::size_t>(kind)]; }
  // Every kind alike.
  static FaultProfile everything(std::uint32_t least, std::uint32_t most);
};

// Faults between `from` and `until`, in the order of their beginnings.
FaultPlan draw_plan(const FaultProfile& profile, base::Duration from, base::Duration until, base::Random& random);

}  // namespace muster::sim
