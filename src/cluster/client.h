// What a client decides, without IO: submits jobs, follows them through the loss of gates, asks for status, cancels. It
// finds the owner of a job by the ring, is redirected where that has changed, and says what it saw last, so that it
// misses nothing. Fed by a shell (command line or library) with requests and messages; afterwards take() gives what to
// send, update() what to tell the user, and deadline() says when to wake it. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cluster/bodies.h"
#include "cluster/client_calls.h"
#include "cluster/client_update.h"
#include "cluster/effects.h"
#include "cluster/gate_options.h"
#include "cluster/gate_statistics.h"
#include "cluster/messages.h"
#include "resilience/token_bucket.h"

namespace muster::cluster {

// What is to be run, and where.
struct JobRequest {
  JobId job{};  // chosen by the caller, never used before
  BodyRef bundle;
  std::string bytes;  // of the bundle; kept until a gate has it
  JobOutline outline;
  std::vector<std::string> datacenters;
  std::uint32_t count = 0;
  bool reroute = false;
};

struct ClientSettings {
  ClientId client{};
  Process self;
  std::vector<NodeId> gates;  // to begin with
  std::uint64_t seed = 0;
  HashBody hash = nullptr;
  ClientOptions options;
};

class Client {
 public:
  Client(const ClientSettings& settings, base::Instant now);

  // False if too many jobs are followed.
  bool submit(JobRequest request, base::Instant now);
  // Follows a job that was submitted before, perhaps by another process.
  bool follow(JobId job, base::Instant now);
  void status(JobId job, base::Instant now);
  void cancel(JobId job, std::string requester, std::string reason, base::Instant now);
  void datacenters(base::Instant now);
  // Pulls a result from wherever the job is followed; StoreBody brings it, with its hash checked.
  void fetch(JobId job, const BodyRef& body, base::Instant now);
  void body_stored(const BodyHash& hash, bool ok, base::Instant now);
  void unfollow(JobId job) { drop(job); }

  void receive(NodeId from, const Message& message, base::Instant now);
  // The connection to this gate is gone.
  void disconnected(NodeId gate, base::Instant now);
  void wake(base::Instant now);

  base::Instant deadline() const;
  Effects take() { return std::exchange(effects_, {}); }
  // What there is to tell, if it may be told now; to be asked after every call. deadline() says when it may be.
  std::optional<ClientUpdate> update(base::Instant now);

  // The end of a job, once all of it has arrived.
  const JobEnd* ended(JobId job) const;
  const GateStatistics* statistics(JobId job) const;

 private:
  struct Job {
    std::uint64_t epoch = 0;  // of its owner, the highest seen
    NodeId gate = kNoNode;    // that it is followed at
    bool asked = false;       // the user waits to hear that it is
    base::Instant heard{};
    std::uint32_t results = 0;      // ends of workflows seen, of those that gates number
    std::set<std::uint32_t> ended;  // workflows whose end a manager told, which numbers none
    std::uint64_t window = 0;       // the last one seen
    std::optional<JobEnd> end;
    BodyRef bundle;
    std::shared_ptr<const std::string> bytes;  // until it is accepted
    GateStatistics statistics{base::Duration::zero()};
  };

  void on(NodeId from, const SubmitAnswer& message, base::Instant now);
  void on(NodeId from, const StatusAnswer& message, base::Instant now);
  void on(NodeId from, const CancelAnswer& message, base::Instant now);
  void on(NodeId from, const WorkflowEnded& message, base::Instant now);
  void on(NodeId from, const JobEnd& message, base::Instant now);
  void on(NodeId from, const WindowPush& message, base::Instant now);
  void on(NodeId from, const Datacenters& message, base::Instant now);
  void on(NodeId from, const Ring& message, base::Instant now);
  void on(NodeId from, const BodyWanted& message, base::Instant now);
  void on(NodeId from, const BodyPiece& message, base::Instant now);
  void on(NodeId from, const BodyMissing& message, base::Instant now);
  template <class Other>
  void on(NodeId, const Other&, base::Instant) {}

  // Whether the sender's word counts: it is not of a superseded owner.
  bool current(Job& job, NodeId from, std::uint64_t epoch, base::Instant now);
  void take(Job& job, const WorkflowEnded& message);
  void search(JobId id, const Job& job, base::Instant now);
  void tell(ClientAnswer::About about, JobId job, std::optional<Answer> answer, std::string reason = {});
  void gave_up(const ClientCalls::GaveUp& call);
  void followed(JobId id, Job& job, NodeId gate, std::uint64_t epoch, base::Instant now);
  void tell_totals(JobId id, const Job& job);
  Job& session(JobId id);
  void drop(JobId job);

  ClientId client_;
  ClientOptions options_;
  ClientCalls calls_;
  std::map<JobId, Job> jobs_;
  Bodies bodies_;
  std::map<BodyHash, std::pair<JobId, BodyRef>> fetching_;
  ClientUpdate pending_;
  resilience::TokenBucket callbacks_;
  base::Instant now_;  // of the last call
  Effects effects_;
};

}  // namespace muster::cluster
