// Weighted rendezvous hashing: every node ranks its candidates by itself, nodes with the same view and weights spread
// evenly over them, and a candidate that comes or goes changes only the choices that it wins or held. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/node_id.h"

namespace muster::base {

struct Candidate {
  NodeId node = kNoNode;
  double weight = 1;  // see rendezvous_weight()
};

// How much a peer is worth by its record: 1 for a faultless one, never below kMinRendezvousWeight. Both arguments are
// taken as within [0, 1]: the share of failed calls, and how far its latency is from the best (0) to the worst (1).
double rendezvous_weight(double error_rate, double latency_factor);

// hash(peer‖self‖role), taken as a number in [0, 1), times the weight. `self` and `role` make different nodes, and the
// same node in different roles, prefer different peers.
double rendezvous_score(const Candidate& peer, NodeId self, std::string_view role);

// The `count` best of the candidates, best first; equal scores in the order of the ids.
std::vector<NodeId> rendezvous_best(std::span<const Candidate> candidates, NodeId self, std::string_view role,
                                    std::size_t count);

}  // namespace muster::base
