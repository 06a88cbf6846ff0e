#include "cores/swim_suspicion.h"

#include <algorithm>
#include <cmath>

namespace muster::cores {

SuspicionTerms suspicion_terms(const SwimOptions& options, std::size_t members) {
  const double scale = std::max(1.0, std::log10(static_cast<double>(std::max<std::size_t>(members, 1))));
  SuspicionTerms terms;
  terms.shortest = base::from_seconds(options.suspicion_multiplier * scale * base::seconds(options.probe_interval));
  terms.longest = terms.shortest * options.suspicion_max_multiplier;
  const std::uint32_t wanted = options.suspicion_multiplier > 2 ? options.suspicion_multiplier - 2 : 0;
  // Whoever could confirm is neither the suspect nor the first accuser.
  if (options.lifeguard.dynamic_suspicion && members >= std::size_t{wanted} + 2) terms.confirmations = wanted;
  return terms;
}

base::Duration suspicion_timeout(const SuspicionTerms& terms, std::uint32_t confirmed) {
  if (terms.confirmations == 0) return terms.shortest;
  const double share = std::log(confirmed + 1.0) / std::log(terms.confirmations + 1.0);
  const double range = base::seconds(terms.longest - terms.shortest);
  return std::max(terms.shortest, terms.longest - base::from_seconds(range * share));
}

std::uint32_t retransmit_limit(std::uint32_t multiplier, std::size_t members) {
  // ⌈log₁₀(n + 1)⌉ in whole numbers: it is asked with every packet.
  std::uint32_t digits = 0;
  for (std::size_t left = members; left > 0; left /= 10) ++digits;
  return multiplier * digits;
}

base::Duration push_pull_period(base::Duration base, std::size_t members) {
  constexpr std::size_t kUnscaled = 32;
  if (members <= kUnscaled) return base;
  const double steps = std::ceil(std::log2(static_cast<double>(members)) - 5);
  return base * (static_cast<std::int64_t>(steps) + 1);
}

Suspicion::Suspicion(const SuspicionTerms& terms, base::NodeId accuser, base::Instant now)
    : terms_(terms), began_(now), accusers_{accuser} {}

bool Suspicion::confirm(base::NodeId accuser) {
  if (confirmed_ >= terms_.confirmations) return false;
  if (std::find(accusers_.begin(), accusers_.end(), accuser) != accusers_.end()) return false;
  accusers_.push_back(accuser);
  ++confirmed_;
  return true;
}

}  // namespace muster::cores
