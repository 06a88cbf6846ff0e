// Watches how the brains of a cluster spare themselves and others: circuits change state legally, for a cause, and keep
// their half-open quota; queues are bounded; what controls the cluster, and what was acknowledged, is never shed; and
// equal views of the gates give equal owners. Looks at managers and gates after each of their events, with an account
// of its own of what led there.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/effects.h"
#include "cluster/gate.h"
#include "cluster/manager.h"
#include "sim/kernel.h"

namespace muster::sim {

class ClusterResources {
 public:
  explicit ClusterResources(Kernel& kernel) : kernel_(&kernel) {}

  void booted(base::NodeId node, cluster::Life life);
  void noted(base::NodeId node, const cluster::Note& note);

  // The quorum's circuit of the node is in this state after an event. Gives the state after the one before.
  resilience::CircuitState turns(base::NodeId node, resilience::CircuitState state);
  void observe(base::NodeId node, const cluster::Manager& brain);
  void observe(base::NodeId node, const cluster::Gate& brain);
  // What leaves a brain, in the state that it is in then.
  void leaves(base::NodeId node, base::NodeId to, const cluster::Message& message, const cluster::Manager& brain);
  void leaves(base::NodeId node, base::NodeId to, const cluster::Message& message, const cluster::Gate& brain);
  // A part is offered, perhaps again, to a worker whose circuit at the manager is this; null if nothing was seen of it.
  void offers(base::NodeId manager, base::NodeId worker, const cluster::Dispatch& offer,
              const resilience::Circuit* known);
  // A manager says that it begins to offer a part, perhaps anew since it leads the job again: told before the offer.
  void begins_offer(base::NodeId manager, const cluster::Note& note);
  // A manager hears that the worker lives.
  void hears(base::NodeId manager, base::NodeId worker) { heard_.insert({manager, worker}); }
  // A worker's answer to an offer, or its word that a part is over, comes to a manager.
  void answers(base::NodeId manager, base::NodeId worker) { trials_.erase({manager, worker}); }
  void shed(base::NodeId node, const cluster::Message& message, resilience::Load load);

 private:
  struct Seen {
    resilience::CircuitState state = resilience::CircuitState::kClosed;
    std::size_t submissions = 0;
    std::deque<base::Instant> timeouts;  // since it closed, by the node's own clock; those of one moment are one
    std::vector<base::NodeId> view;      // a gate's: those on the ring
  };
  void repeats(base::NodeId manager, base::NodeId worker, const cluster::Dispatch& offer,
               resilience::CircuitState state);
  void refuses(base::NodeId node, const cluster::Message& message, const resilience::Circuit& circuit);
  template <class Brain>
  void check_cancellation(base::NodeId node, const cluster::Message& message, const Brain& brain);
  template <class Brain>
  void check_quorum(base::NodeId node, const Brain& brain, std::size_t most_submissions);
  void check_ring(base::NodeId gate, const cluster::Gate& brain);

  Kernel* kernel_;
  std::map<base::NodeId, Seen> seen_;
  using Offer = std::tuple<base::NodeId, cluster::PartId, cluster::Fence>;  // by manager
  std::set<Offer> offered_;
  std::set<Offer> blind_;  // of those, to a worker of whom nothing was seen yet
  std::map<std::pair<base::NodeId, base::NodeId>, base::Instant> trials_;  // when it began, by manager and worker
  // When a manager offered something to a worker again, for want of an answer, while its circuit was closed.
  std::map<std::pair<base::NodeId, base::NodeId>, std::deque<base::Instant>> silences_;
  std::map<base::NodeId, cluster::Life> lives_;
  std::set<std::pair<base::NodeId, base::NodeId>> heard_;  // managers and workers, both in their present lives
  std::map<std::vector<base::NodeId>, std::vector<base::NodeId>> owners_;  // of some keys, by the gates on the ring
};

}  // namespace muster::sim
