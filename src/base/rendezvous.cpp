#include "base/rendezvous.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/options.h"

namespace muster::base {

double rendezvous_weight(double error_rate, double latency_factor) {
  const double errors = std::clamp(error_rate, 0.0, 1.0);
  const double slowness = std::clamp(latency_factor, 0.0, 1.0);
  return std::max(kMinRendezvousWeight, 1.0 - 2.0 * errors - 0.5 * slowness);
}

double rendezvous_score(const Candidate& peer, NodeId self, std::string_view role) {
  const std::uint64_t both = fnv1a(number(self), fnv1a(number(peer.node)));
  const std::uint64_t hash = mix(fnv1a(role, both));
  return static_cast<double>(hash >> 11) * 0x1.0p-53 * peer.weight;
}

std::vector<NodeId> rendezvous_best(std::span<const Candidate> candidates, NodeId self, std::string_view role,
                                    std::size_t count) {
  std::vector<std::pair<double, NodeId>> ranked;
  ranked.reserve(candidates.size());
  for (const Candidate& candidate : candidates) {
    ranked.emplace_back(rendezvous_score(candidate, self, role), candidate.node);
  }
  const std::size_t kept = std::min(count, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(kept), ranked.end(),
                    [](const auto& left, const auto& right) {
                      return left.first != right.first ? left.first > right.first : left.second < right.second;
                    });
  std::vector<NodeId> best;
  best.reserve(kept);
  for (std::size_t i = 0; i < kept; ++i) best.push_back(ranked[i].second);
  return best;
}

}  // namespace muster::base
