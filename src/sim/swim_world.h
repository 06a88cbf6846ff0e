// A group of members under faults, and the oracles of membership. Everything a process does is watched; at the end the
// views of the healthy must agree with the truth.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "sim/scenario.h"

namespace muster::sim {

struct SwimWorldOptions {
  // Whether anybody healthy held dead is a violation at once (21), and every crash must be found in time (22).
  bool gentle = false;
  // Whether packets may be changed on their way and come through: then only bounds can be watched.
  bool garbled = false;
};

// Measured by a gentle world: probe intervals from a crash to the first that held it dead, less the shortest suspicion.
constexpr std::string_view kSwimDetection = "probe intervals to first detection, less the shortest suspicion";
// The same to the last that held it dead.
constexpr std::string_view kSwimDetectionByAll = "probe intervals to detection by all, less the shortest suspicion";
// How long after the last of them had started all knew all, and the same as a share of what exchanging views may take:
// to join, to look again soon after, and then one whole period.
constexpr std::string_view kSwimAcquainted = "seconds until all know all";
constexpr std::string_view kSwimAcquaintedShare = "share of the time to exchange views until all know all";
// And how often a member probed, on average of the members.
constexpr std::string_view kSwimProbes = "probes per member and interval";

std::unique_ptr<World> make_swim_world(std::uint64_t seed, const SwimWorldOptions& options);

// swim, swim-loss, swim-garbled.
void add_swim_scenarios(std::vector<Scenario>& scenarios);

}  // namespace muster::sim
