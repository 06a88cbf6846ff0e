// The limits of the base room: what its containers hold at most when others decide what goes in.
#pragma once

#include <cstddef>

namespace muster::base {

// Places that one node takes on a Ring. The share of a node varies by about 1/sqrt(places): 150 keeps it within a tenth
// of the mean nearly always. More places even it out further, at 16 bytes each and a slower change of membership.
constexpr std::size_t kRingPlaces = 150;

// Nodes on one Ring. At this bound a ring takes 0.6 MB; a cluster has some tens of gates.
constexpr std::size_t kMaxRingNodes = 256;

// What is left of a peer's weight however badly it does, as a share of 1. Above 0, so that every peer is tried now and
// then and can win its weight back; larger sends more to peers that fail.
constexpr double kMinRendezvousWeight = 0.1;

}  // namespace muster::base
