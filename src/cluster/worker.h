// What a worker decides, without IO: which parts it takes, on which cores, when their executors start and stop, whom it
// reports to. It keeps final results until they are acknowledged, and stops everything when no manager that has a
// quorum was in contact for too long, as others then run its parts. Fed by a shell with messages and news of executors
// and bodies; afterwards take() gives the effects and deadline() says when to wake it. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "cluster/bodies.h"
#include "cluster/core_map.h"
#include "cluster/effects.h"
#include "cluster/ids.h"
#include "cluster/messages.h"
#include "cluster/options.h"
#include "resilience/backpressure.h"
#include "resilience/fence.h"

namespace muster::cluster {

struct WorkerSettings {
  Process self;
  std::string cluster;
  std::string environment;
  std::uint32_t cores = 1;
  std::vector<NodeId> managers;  // whom to ask first
  std::uint64_t seed = 0;        // of the jitter on its periods
  HashBody hash = nullptr;
  WorkerOptions options;
};

// What a shell tells of an executor that ended.
struct ExecutorEnd {
  PartId part;
  Fence fence;
  std::optional<PartOutcome> outcome;  // nothing: it died without a result
  Counts counts;
  std::string result;  // encoded; may be empty
  std::string reason;
};

class Worker {
 public:
  Worker(const WorkerSettings& settings, base::Instant now);

  void receive(NodeId from, const Message& message, base::Instant now);
  // The latest cumulative values of an executor; `sequence` and `collected` are filled in here.
  void executor_progress(const PartProgress& progress, base::Instant now);
  // Of its cores, these have nothing to do any more. The last one stays with the part until it ends.
  void executor_leaves(const PartId& id, const Fence& fence, std::span<const std::uint32_t> cores, base::Instant now);
  void executor_ended(ExecutorEnd end, base::Instant now);
  // An executor without progress asks for time.
  void executor_asks(const ExtensionAsk& ask, base::Instant now);
  void body_stored(const BodyHash& hash, bool ok, base::Instant now);
  void body_read(const BodyHash& hash, std::optional<std::string> bytes, base::Instant now);
  // Shares of its own cpu and memory in use, executors excluded, and its SWIM health score.
  void health(double cpu, double memory, std::uint32_t score, base::Instant now);
  // Takes no more parts; ends when those that run have ended.
  void drain(bool on, base::Instant now);
  // Stops whatever runs on these cores.
  void stop_cores(std::span<const std::uint32_t> cores, base::Instant now);
  void wake(base::Instant now);

  base::Instant deadline() const;
  Effects take();

  WorkerState state() const;
  // What is left of its memory for fences is for stops: one that it cannot remember it cannot confirm.
  bool crowded() const { return fences_.nearly_full() || epochs_.nearly_full(); }
  std::uint32_t free_cores() const { return cores_.free(); }
  // Of parts that run on with fewer: free, or others' by now.
  std::uint32_t cores_done() const;
  std::size_t parts() const { return parts_.size(); }
  // Whose fences it keeps.
  std::size_t jobs() const { return jobs_.size(); }
  // Asked to drain, and nothing left to do or to keep.
  bool drained() const { return drain_asked_ && parts_.empty(); }
  // The managers know a later life of this node: this one must end.
  bool superseded() const { return superseded_; }

 private:
  enum class Phase : std::uint8_t { kPreparing, kRunning, kStopping, kFinished };
  struct Part {
    Phase phase = Phase::kPreparing;
    Dispatch order;
    std::vector<std::uint32_t> cores;  // that it still needs
    base::Instant began{};             // preparing: when it was accepted
    base::Instant due{};               // preparing: given up; stopping: killed; finished: result sent again
    base::Duration wait{};             // finished: between two sends
    bool started = false;              // has an executor
    bool alone = false;                // stopped for want of contact
    bool overdue = false;              // stopped because of its run-time limit
    std::set<NodeId> stop_askers;      // to be told when it has stopped
    PartProgress latest;
    bool news = false;
    PartResult result;

    bool running() const { return phase == Phase::kRunning || phase == Phase::kStopping; }
    std::uint32_t cores_done() const {
      return running() ? order.slice.cores - static_cast<std::uint32_t>(cores.size()) : 0;
    }
  };
  // A job of which it has, or had, parts. Kept until a manager says that it has ended: a leader that takes over late
  // offers again what it does not know to be lost, and must be answered like the first time.
  struct Led {
    NodeId manager = kNoNode;
    std::uint64_t epoch = 0;
    std::uint64_t context_version = 0;
    base::Instant used{};
    std::set<PartId> fenced;  // whose fences are kept for it
  };
  using Parts = std::map<PartId, Part>;

  // worker.cpp
  void settle(base::Instant now);
  void step(const PartId& id, Part& part, base::Instant now);
  base::Instant due_of(const Part& part) const;
  bool in_contact(base::Instant now) const;
  // The fences' time: it stands still without contact.
  base::Instant time_in_contact(base::Instant now) const;
  void send(NodeId to, Message message) { effects_.push_back(Send{to, std::move(message)}); }
  void note(Noted what, const PartId& part, const Fence& fence);

  // worker_parts.cpp
  void on(NodeId from, const Dispatch& message, base::Instant now);
  void on(NodeId from, const StopPart& message, base::Instant now);
  DispatchReply judge(NodeId from, const Dispatch& message, base::Instant now);
  DispatchReply take_on(NodeId from, const Dispatch& message, base::Instant now);
  void start(const PartId& id, Part& part, base::Instant now);
  void stop(const PartId& id, Part& part, base::Duration grace, base::Instant now);
  void gone(Parts::iterator at, DispatchReply reply, base::Instant now);
  void finish(Parts::iterator at, ExecutorEnd end, base::Instant now);

  // worker_contact.cpp
  void on(NodeId from, const HeartbeatAnswer& message, base::Instant now);
  void on(NodeId from, const ResultAck& message, base::Instant now);
  void on(NodeId from, const Probe& message, base::Instant now);
  void on(NodeId from, const ExtensionAnswer& message, base::Instant now);
  void on(NodeId from, const Drain& message, base::Instant now);
  template <class Body>
    requires requires(Bodies& bodies, Effects& effects, const Body& body) {
      bodies.receive(NodeId{}, body, base::Instant{}, effects);
    }
  void on(NodeId from, const Body& message, base::Instant now) {
    bodies_.receive(from, message, now, effects_);
  }
  // What is for others.
  void on(NodeId, const auto&, base::Instant) {}
  void say_heartbeat(base::Instant now);
  void flush_progress(base::Instant now);
  void poll_cancellations(base::Instant now);
  void send_result(const PartId& id, Part& part, base::Instant now);
  std::vector<PartReport> reports(base::Instant now) const;
  std::set<NodeId> leaders(base::Instant now);
  std::vector<JobId> idle_jobs(base::Instant now);
  bool idle(const Led& job, base::Instant now) const { return now - job.used >= options_.leader_memory; }
  void forget(JobId id, base::Instant now);

  Process self_;
  std::string cluster_;
  std::string environment_;
  WorkerOptions options_;
  base::Random random_;
  HashBody hash_;
  std::vector<NodeId> managers_;
  std::size_t manager_ = 0;  // index of the one asked now
  CoreMap cores_;
  Bodies bodies_;
  Parts parts_;
  std::map<JobId, Led> jobs_;
  JobId asked_{};  // the last idle job that it asked about: those after it are next
  resilience::FenceTable<PartId, DispatchReply> fences_;
  resilience::FenceTable<JobId, std::monostate> epochs_;
  std::optional<base::Instant> contact_;  // when the last heartbeat was sent that a manager with a quorum answered
  base::Duration away_{};                 // all that it was without contact before
  std::uint64_t version_ = 0;
  std::uint64_t admission_ = 0;  // the latest that it heard of
  bool awaiting_ = false;        // an answer to the last heartbeat
  base::Instant heartbeat_due_{};
  base::Instant flush_due_ = base::kNever;
  base::Instant poll_due_{};
  resilience::Pressure pressure_ = resilience::Pressure::kNone;
  bool drain_asked_ = false;
  bool critical_ = false;
  bool degraded_ = false;
  bool disk_failed_ = false;  // at the last write: parts given to it would wait in vain for their bundles
  bool superseded_ = false;
  Effects effects_;
};

}  // namespace muster::cluster
