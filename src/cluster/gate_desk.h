// What the machines of a gate work with during one call: the ledger to read, the time, and where to put proposals and
// effects. Made by the gate for each call; machines keep nothing of it.
#pragma once

#include <utility>

#include "base/time.h"
#include "cluster/bodies.h"
#include "cluster/datacenter_table.h"
#include "cluster/effects.h"
#include "cluster/gate_leases.h"
#include "cluster/gate_ledger.h"
#include "cluster/gate_options.h"
#include "cluster/gate_peers.h"
#include "cluster/gate_proposals.h"
#include "cluster/ids.h"

namespace muster::cluster {

class GateFollowers;

struct GateDesk {
  const Process& self;
  const GateOptions& options;
  const GateLedger& ledger;
  GateProposals& proposals;
  GateLeases& leases;
  GatePeers& peers;
  Bodies& bodies;
  DatacenterTable& datacenters;
  GateFollowers& followers;
  Effects& effects;
  base::Instant now;

  bool current() const { return proposals.standing().current(); }
  void send(NodeId to, Message message) { effects.push_back(Send{to, std::move(message)}); }
  bool propose(GateCommand command) { return proposals.propose(std::move(command), now, effects).has_value(); }
  void note(Noted what, JobId job, std::uint64_t epoch = 0, NodeId node = kNoNode) {
    effects.push_back(Note{what, PartId{job, 0, 0}, Fence{epoch, 0}, node});
  }
};

}  // namespace muster::cluster
