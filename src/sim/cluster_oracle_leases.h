// Reckons by itself which gate may act for which job: from the moment at which a gate's own clock showed that it sent a
// renewal, and from the entries of the gates' log that tell of it. Told each proposal when it leaves, each entry when
// it is applied for the first time anywhere, and each order that a gate gives in the name of a job. Asks no gate
// whether it holds a lease. The same for datacenters: one that a gate has heard of lately is not lost.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "cluster/gate_commands.h"
#include "cluster/gate_ledger.h"
#include "cluster/messages.h"
#include "sim/kernel.h"

namespace muster::sim {

class ClusterLeases {
 public:
  explicit ClusterLeases(Kernel& kernel) : kernel_(&kernel) {}

  void begins(const cluster::Process& gate) { lives_[gate.node] = gate.life; }
  // What a manager tells the gate.
  void hears(const cluster::Process& gate, base::NodeId manager, const cluster::Message& message);
  // By the gate that made it, with what it knows; perhaps not for the first time.
  void proposed(const cluster::GateEntry& entry, const cluster::GateLedger& known);
  // `in_time`: whether the gates' clocks can be held to true time.
  void committed(const cluster::GateEntry& entry, const cluster::GateLedger& after, bool in_time);
  void acts(const cluster::Process& gate, cluster::JobId job, std::uint64_t epoch);

 private:
  struct Lease {
    cluster::Process owner{};
    std::uint64_t epoch = 1;
    cluster::RenewalId last{};
    // When the owner sent the last of its own renewals that the log told of; nothing if it sent none under this epoch.
    std::optional<base::Instant> sent{};
  };

  struct Heard {
    std::uint64_t epoch = 0;                  // of the job's manager: what comes under a lower one is old
    base::Instant at = base::Instant::min();  // by the gate's own clock
  };
  using Run = std::tuple<cluster::Process, cluster::JobId, std::string>;  // a gate's job at a datacenter

  void check_lost(const cluster::GateEntry& entry, const cluster::SlotLost& command, const cluster::GateLedger& known);
  void renewed(Lease& lease, cluster::RenewalId renewal);
  void moved(const cluster::GateEntry& entry, const cluster::LeaseMoved& command, bool in_time);
  bool lives(const cluster::Process& gate) const;

  Kernel* kernel_;
  std::map<base::NodeId, cluster::Life> lives_;
  std::map<cluster::JobId, Lease> leases_;
  std::map<cluster::RenewalId, base::Instant> sent_;  // for the first time, by the sender's own clock
  // Up to which epoch a gate has given a job out of its hands.
  std::map<std::pair<cluster::Process, cluster::JobId>, std::uint64_t> given_up_;
  std::map<Run, Heard> heard_;
  std::map<cluster::Process, std::uint64_t> proposed_;  // the last sequence of each gate
};

}  // namespace muster::sim
