// The times of leases, and how many of them a node keeps track of.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/time.h"

namespace muster::cores {

struct LeaseOptions {
  // How long a lease lasts. Shorter hands work over sooner after a crash; longer outlives longer pauses and outages.
  // Every node of a group must have the same.
  base::Duration length = std::chrono::seconds(30);

  // The holder asks for a renewal this often, so that several may be lost before the lease runs out.
  base::Duration renew_every = std::chrono::seconds(10);

  // How far the rate of any clock may be from true time. The holder counts its lease as so much shorter, everybody else
  // as so much longer; clocks that are further off overlap, and then fences alone keep order.
  double drift = 0.01;

  // An expiry that was told is told again after this, for the case that its proposal was lost.
  base::Duration repeat_expiry = std::chrono::seconds(1);

  // Leases tracked: one for every job, and one for every job and datacenter.
  std::size_t max_leases = 65'536;
};

// Proposals of one lease that may be without an answer at once; an older one is given up for a newer.
constexpr std::size_t kMaxPendingRenewals = 4;

}  // namespace muster::cores
