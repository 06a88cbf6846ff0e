// What a manager decides, without IO: takes in jobs, leads those it accepted, keeps contact with workers, does its
// share of housekeeping. A router over small machines; all that must last is in the ledger, which the log builds. Fed
// by a shell with messages, entries of the log, news of bodies and membership; afterwards take() gives the effects and
// deadline() says when to wake it. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "base/time.h"
#include "cluster/bodies.h"
#include "cluster/clock_offset.h"
#include "cluster/desk.h"
#include "cluster/effects.h"
#include "cluster/ends.h"
#include "cluster/housekeeper.h"
#include "cluster/job_machine.h"
#include "cluster/ledger.h"
#include "cluster/messages.h"
#include "cluster/owner_watch.h"
#include "cluster/peers.h"
#include "cluster/proposals.h"
#include "cluster/submissions.h"
#include "cluster/worker_table.h"
#include "cores/pace.h"
#include "resilience/rate_limiter.h"
#include "resilience/shedding.h"

namespace muster::cluster {

struct ManagerSettings {
  Process self;
  std::string cluster;
  std::string environment;
  std::uint64_t seed = 0;
  HashBody hash = nullptr;
  ManagerOptions options;
};

class Manager {
 public:
  // `on_disk`: the bodies that the disk holds.
  Manager(const ManagerSettings& settings, const std::vector<BodyRef>& on_disk, base::Instant now);

  // Where the log stands; to be told before every other call, as what a manager may say depends on it.
  void standing(const LogStanding& standing, base::Instant now);
  // An entry was committed; in order.
  void applied(std::uint64_t index, std::string_view entry, base::Instant now);
  // The log begins with this snapshot, from snapshot(). An error means that this node must not go on.
  base::Expected<void> restored(std::string_view snapshot, base::Instant now);

  void receive(NodeId from, const Message& message, base::Instant now);
  // Membership's news of a node; with the state that it passes on, if it is a worker.
  void member(NodeId node, NodeRole role, Liveness liveness, std::optional<WorkerState> told, base::Instant now);
  void body_stored(const BodyHash& hash, bool ok, base::Instant now);
  void body_read(const BodyHash& hash, std::optional<std::string> bytes, base::Instant now);
  void drain(base::Instant now);
  // How loaded this node is, as its shell measures; what is not critical is shed accordingly.
  void loaded(resilience::Load load) { load_ = load; }
  // How full the queue is from which the shell feeds this manager.
  void intake(std::size_t queued, std::size_t capacity) { pressure_ = resilience::pressure(queued, capacity); }
  void wake(base::Instant now);

  base::Instant deadline() const;
  Effects take();

  // The whole state, for a snapshot of the log at ledger().index().
  std::string snapshot() const;
  const Ledger& ledger() const { return ledger_; }
  Census census(base::Instant now) const { return workers_.census(ledger_, now); }
  std::size_t jobs_led() const { return machines_.size(); }
  // How it gets on with handing out parts, while it has any to hand out.
  const cores::PaceWatch& pace() const { return pace_; }
  bool drained() const;

  // For metrics and a simulator's oracles.
  const resilience::Circuit& quorum_circuit() const { return proposals_.circuit(); }
  const resilience::Circuit* circuit_of(NodeId worker) const { return workers_.circuit(worker); }
  std::size_t submissions() const { return submissions_.size(); }
  std::size_t proposals() const { return proposals_.size(); }
  const LogStanding& standing() const { return standing_; }
  resilience::Load load() const { return load_; }
  // How many messages of this kind were turned away for load.
  std::uint64_t turned_away(const Message& message) const { return turned_away_[message.index()]; }

 private:
  struct Led {
    JobMachine machine;
    base::Instant due = base::kNever;
  };

  Desk desk(base::Instant now);
  bool current() const { return standing_.current(); }
  bool leads_log() const { return current() && standing_.leader == self_.node; }

  // manager.cpp
  void settle(base::Instant now);
  void step_jobs(Desk& desk);
  void step_job(Desk& desk, JobId job);
  void feed_queue(Desk& desk);
  void timed_out(Desk& desk, const Proposals::TimedOut& proposal);
  void say_state(Desk& desk);

  // manager_log.cpp
  struct AfterApply;
  void sync_bodies(Desk& desk, const std::vector<BodyRef>& touched);
  void sync_machine(Desk& desk, JobId job);
  void date(Desk& desk, JobId job);

  // manager_clients.cpp
  bool shed(Desk& desk, NodeId from, const Message& message);
  bool gate(NodeId from, JobId id) const;
  bool of_gate(NodeId from, const StatusAsk& message) const;
  // Who is to be told of the job, and under which epoch of a gate's lease.
  struct Origin {
    NodeId node = kNoNode;
    std::uint64_t epoch = 0;
  };
  Origin origin_of(JobId id, const LedgerJob& job) const;
  // False if a later owner is known.
  bool announced(Desk& desk, JobId job, const Origin& origin);
  void pass_on_origin(Desk& desk, JobId job);
  void on(Desk& desk, NodeId from, const Submit& message);
  void on(Desk& desk, NodeId from, const StatusAsk& message);
  void on(Desk& desk, NodeId from, const Cancel& message);
  void on(Desk& desk, NodeId from, const Reconnect& message);
  void on(Desk& desk, NodeId from, const EndAck& message);
  void on(Desk& desk, NodeId from, const GateAnnounce& message);
  void on(Desk& desk, NodeId from, const OwnerIs& message);
  void on(Desk& desk, NodeId from, const Forward& message);
  void on(Desk& desk, NodeId from, const ManagerState& message);
  void tell_cancellers(Desk& desk, JobId job, const CancelAnswer& answer, bool done);

  // manager_workers.cpp
  void on(Desk& desk, NodeId from, const Heartbeat& message);
  void on(Desk& desk, NodeId from, const DispatchAnswer& message);
  void on(Desk& desk, NodeId from, const PartStopped& message);
  void on(Desk& desk, NodeId from, const Progress& message);
  void on(Desk& desk, NodeId from, const PartResult& message);
  void on(Desk& desk, NodeId from, const ExtensionAsk& message);
  void on(Desk& desk, NodeId from, const ProbeAnswer& message);
  void on(Desk& desk, NodeId from, const CancelPoll& message);
  Contact contact(Desk& desk, const Process& worker, const Heartbeat& message);
  void reported(Desk& desk, const Process& worker, const std::vector<PartReport>& parts, std::uint64_t version);
  void act(Desk& desk, const Process& worker, const Action& action, const std::vector<PartReport>& parts);

  void on(Desk& desk, NodeId from, const BodyOffer& message);
  void on(Desk& desk, NodeId from, const BodyHeld& message);
  void on(Desk& desk, NodeId from, const BodyWanted& message);
  void on(Desk& desk, NodeId from, const BodyPiece& message);
  void on(Desk& desk, NodeId from, const BodyMissing& message);
  // What is for others.
  template <class Other>
  void on(Desk&, NodeId, const Other&) {}

  JobMachine* led(JobId job);
  void touch(JobId job) { touched_.insert(job); }

  Process self_;
  std::string cluster_;
  std::string environment_;
  ManagerOptions options_;
  HashBody hash_;
  base::Random random_;
  LogStanding standing_;
  Ledger ledger_;
  Proposals proposals_;
  Bodies bodies_;
  WorkerTable workers_;
  Peers peers_;
  Housekeeper housekeeper_;
  Submissions submissions_;
  Ends ends_;
  OwnerWatch owners_;
  resilience::RateLimiter limiter_;
  resilience::Shedder shedder_;
  resilience::Load load_ = resilience::Load::kHealthy;
  std::array<std::uint64_t, kMessages> turned_away_{};
  std::map<JobId, Led> machines_;  // of the jobs that this process leads
  std::set<std::pair<base::Instant, JobId>> due_;
  std::set<JobId> touched_;
  std::set<NodeId> gates_;
  std::map<JobId, std::vector<NodeId>> cancellers_;
  std::map<JobId, base::Instant> accepted_;  // when, as far as is known: not later
  std::map<JobId, Origin> origins_;          // where it is another than the ledger's
  std::map<JobId, base::Instant> unknown_;   // jobs that workers speak of and the ledger does not know
  std::map<Process, ClockOffset> clocks_;    // of workers
  bool hungry_ = true;                       // cores or wants may have changed
  base::Instant feed_due_{};
  base::Instant state_due_{};
  base::Instant others_due_{};
  cores::PaceWatch pace_;
  std::uint64_t handed_out_ = 0;  // provisions that took effect, and answers to offers
  bool draining_ = false;
  base::Instant current_since_ = base::Instant::min();
  resilience::Pressure pressure_ = resilience::Pressure::kNone;
  Effects effects_;
};

}  // namespace muster::cluster
