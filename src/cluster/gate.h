// What a gate decides, without IO: takes in jobs, owns those that the gates' log gives it, finds datacenters that run
// them, takes in what comes of it, and tells clients. A router over small machines; all that must last is in the
// ledger, which the log builds. Fed by a shell with messages, entries of the log, news of bodies, membership and
// datacenters; afterwards take() gives the effects and deadline() says when to wake it. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "cluster/bodies.h"
#include "cluster/datacenter_table.h"
#include "cluster/effects.h"
#include "cluster/gate_desk.h"
#include "cluster/gate_followers.h"
#include "cluster/gate_job.h"
#include "cluster/gate_leases.h"
#include "cluster/gate_ledger.h"
#include "cluster/gate_options.h"
#include "cluster/gate_peers.h"
#include "cluster/gate_proposals.h"
#include "cluster/gate_requests.h"
#include "cluster/messages.h"
#include "resilience/shedding.h"

namespace muster::cluster {

struct GateSettings {
  Process self;
  std::uint64_t seed = 0;
  HashBody hash = nullptr;
  GateOptions options;
  BodyOptions bodies;
};

class Gate {
 public:
  // `on_disk`: the bodies that the disk holds.
  Gate(const GateSettings& settings, const std::vector<BodyRef>& on_disk, base::Instant now);

  // Where the gates' log stands; to be told before every other call, as what a gate may say depends on it.
  void standing(const LogStanding& standing, base::Instant now);
  // An entry was committed; in order.
  void applied(std::uint64_t index, std::string_view entry, base::Instant now);
  // The log begins with this snapshot, from snapshot(). An error means that this node must not go on.
  base::Expected<void> restored(std::string_view snapshot, base::Instant now);

  // `client` is whom the credential of the connection names; ClientId{} for nodes of the cluster.
  void receive(NodeId from, ClientId client, const Message& message, base::Instant now);
  // A client's connection is gone.
  void left(NodeId client, base::Instant now);
  void gate(NodeId gate, bool alive, base::Instant now);  // as membership says
  void manager(const ManagerReport& report, base::Instant now);
  void manager_died(NodeId manager, base::Instant now);
  void manager_removed(NodeId manager, base::Instant now);
  void body_stored(const BodyHash& hash, bool ok, base::Instant now);
  void body_read(const BodyHash& hash, std::optional<std::string> bytes, base::Instant now);
  // Takes nothing new and hands its leases over.
  void drain(base::Instant now);
  // How loaded this node is, as its shell measures; what clients ask for is shed accordingly.
  void loaded(resilience::Load load) { load_ = load; }
  void wake(base::Instant now);

  base::Instant deadline() const;
  Effects take() { return std::exchange(effects_, {}); }

  // The whole state, for a snapshot of the log at ledger().index().
  std::string snapshot() const;
  const GateLedger& ledger() const { return ledger_; }
  const DatacenterTable& datacenters() const { return datacenters_; }
  std::size_t jobs_owned() const { return machines_.size(); }
  bool drained() const { return peers_.draining() && machines_.empty(); }
  // Whether it may act in the job's name now, and under which epoch.
  std::optional<std::uint64_t> acts_for(JobId job, base::Instant now) const;

  // For metrics and a simulator's oracles.
  const resilience::Circuit& quorum_circuit() const { return proposals_.circuit(); }
  std::size_t submissions() const { return requests_.submissions(); }
  std::size_t proposals() const { return proposals_.size(); }
  const LogStanding& standing() const { return proposals_.standing(); }
  resilience::Load load() const { return load_; }
  // How many messages of this kind were turned away for load.
  std::uint64_t turned_away(const Message& message) const { return turned_away_[message.index()]; }
  Ring ring() const { return peers_.ring(); }
  NodeId ring_owner(JobId job) const { return peers_.ring_owner(job); }

 private:
  GateDesk desk(base::Instant now);
  bool current() const { return proposals_.standing().current(); }
  bool leads_log() const { return current() && proposals_.standing().leader == self_.node; }
  GateJob* owned(JobId job);
  void touch(JobId job) { touched_.insert(job); }

  // gate.cpp
  void settle(base::Instant now);
  void step_job(GateDesk& desk, JobId job);
  void schedule(JobId job, base::Instant due);
  void tick(GateDesk& desk);
  void renew(GateDesk& desk, std::vector<Renewal> rows);
  void move(GateDesk& desk, JobId id, const GateLedgerJob& job, const Process& to);
  void move_leases(GateDesk& desk, const std::vector<JobId>& expired);
  void forget_ended(GateDesk& desk);

  // gate_log.cpp
  struct AfterApply;
  void sync_bodies(GateDesk& desk, const std::vector<BodyRef>& touched);
  void sync_job(GateDesk& desk, JobId id);

  // gate_messages.cpp
  bool shed(GateDesk& desk, NodeId from, ClientId client, const Message& message);
  template <class Request>
  void on_client(GateDesk& desk, NodeId from, ClientId client, const Request& message);
  template <class Told>
  void on_manager(GateDesk& desk, NodeId from, const Told& message);
  void on_stranger(GateDesk& desk, NodeId from, JobId job, bool end);
  void stop_ended(GateDesk& desk, NodeId manager, JobId id);
  template <class Told>
  void on_node(GateDesk& desk, NodeId from, const Told& message);
  void on(GateDesk& desk, NodeId from, const OwnerAsk& message);
  void on(GateDesk& desk, NodeId from, const Forward& message);
  void on(GateDesk& desk, NodeId from, const ManagerState& message);

  Process self_;
  GateOptions options_;
  GateLedger ledger_;
  GateProposals proposals_;
  GateLeases leases_;
  GatePeers peers_;
  Bodies bodies_;
  DatacenterTable datacenters_;
  GateFollowers followers_;
  GateRequests requests_;
  resilience::Shedder shedder_;
  resilience::Load load_ = resilience::Load::kHealthy;
  std::array<std::uint64_t, kMessages> turned_away_{};
  std::map<JobId, GateJob> machines_;  // of the jobs that this process owns
  std::map<JobId, base::Instant> due_of_;
  std::set<std::pair<base::Instant, JobId>> due_;
  std::set<JobId> touched_;
  std::map<JobId, base::Instant> ended_;  // when the end was seen here
  base::Instant tick_due_;
  base::Instant cleanup_due_;
  base::Instant requests_due_ = base::kNever;
  Effects effects_;
};

}  // namespace muster::cluster
