// Watches which datacenter a gate chooses for a job: never one that is unhealthy by what the gate itself knows then,
// and for a run that was offered to nobody yet the best that there is. Told of each choice as it is made.
#pragma once

#include <span>

#include "base/node_id.h"
#include "cluster/gate_commands.h"
#include "cluster/gate_ledger.h"
#include "cluster/messages_watch.h"
#include "sim/kernel.h"

namespace muster::sim {

// `known`: the datacenters as the gate sees them when it chooses.
void check_choice(Kernel& kernel, base::NodeId gate, const cluster::SlotOffered& choice,
                  const cluster::GateLedgerJob& job, std::span<const cluster::Datacenter> known);

}  // namespace muster::sim
