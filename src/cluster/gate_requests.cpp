#include "cluster/gate_requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "cluster/gate_status.h"
#include "cluster/submissions.h"

namespace muster::cluster {
namespace {

using resilience::Operation;

// Why a submission will never be accepted as it is; empty if it may be.
std::string fault(const Submit& message) {
  if (const auto layer = layers(message.outline); !layer) return layer.error().message;
  if (message.bundle.size == 0) return "The bundle is empty.";
  if (message.bundle.size > kMaxBodyBytes) return "The bundle is too large.";
  if (message.datacenters.empty() && message.datacenter_count == 0) return "Name a datacenter, or how many.";
  if (message.datacenters.size() > kMaxDatacenters || message.datacenter_count > kMaxDatacenters) {
    return "These are more datacenters than there can be.";
  }
  std::set<std::string_view> names;
  std::size_t bytes = 0;
  for (const std::string& name : message.datacenters) {
    bytes += name.size();
    if (name.empty() || name.size() > kMaxName) return "The name of a datacenter is empty or too long.";
    if (!names.insert(name).second) return "A datacenter is named twice.";
  }
  if (bytes > kMaxDatacenterNames) return "The names of the datacenters are too long, taken together.";
  return {};
}

bool nowhere_to_run(const DatacenterTable& table, const Submit& message) {
  if (message.datacenter_count > 0) return table.order({}).empty();
  return std::ranges::all_of(
      message.datacenters, [&](const std::string& name) { return table.health(name) == DatacenterClass::kUnhealthy; });
}

// What a client should know of an accepted job's datacenters; empty if all that it needs are well.
std::string warning(const DatacenterTable& table, const GateLedgerJob& job) {
  std::vector<std::string> chosen = job.datacenters;
  if (!job.exact) {
    chosen = table.order(job.datacenters);
    chosen.resize(std::min(chosen.size(), job.slots.size()));
  }
  std::string words;
  for (const std::string& name : chosen) {
    const DatacenterClass health = table.health(name);
    if (health < DatacenterClass::kDegraded) continue;
    words += fmt::format("{}datacenter '{}' is {}", words.empty() ? "" : ", ", name,
                         health == DatacenterClass::kDegraded ? "degraded" : "unhealthy");
  }
  return words.substr(0, kMaxReason);
}

// Whether this gate speaks for the job now (kAccepted): the job is over, which any gate may say, or it holds the lease.
// If not, another does (kNotOwner), or for the moment nobody.
Answer voice(const GateDesk& desk, JobId id, const GateLedgerJob& job) {
  if (job.end) return Answer::kAccepted;
  if (job.owner != desk.self) return Answer::kNotOwner;
  return desk.leases.holds(id, job.epoch, desk.now) ? Answer::kAccepted : Answer::kQuorumUnavailable;
}

}  // namespace

void GateRequests::on(GateDesk& desk, NodeId from, ClientId client, const Submit& message) {
  SubmitAnswer answer;
  answer.job = message.job;
  answer.retry_after = desk.options.retry_after;
  const auto refuse = [&](Answer why, std::string reason, NodeId leader = kNoNode) {
    answer.answer = why;
    answer.reason = std::move(reason);
    answer.leader = leader;
    desk.send(from, answer);
  };
  const auto redirect = [&](NodeId owner) {
    desk.note(Noted::kRedirected, message.job, 0, owner);
    refuse(Answer::kNotOwner, "another gate owns the job", owner);
  };
  if (limited(desk, message.job, client, Operation::kSubmit, answer.retry_after)) {
    return refuse(Answer::kLimited, "too many submits of this client");
  }
  if (const GateLedgerJob* job = desk.ledger.job(message.job)) {
    if (job->client != client) return refuse(Answer::kConflict, "the id belongs to another client's job");
    const Answer mine = voice(desk, message.job, *job);
    if (mine == Answer::kNotOwner) return redirect(job->owner.node);
    if (mine != Answer::kAccepted) return refuse(mine, "this gate's lease on the job has lapsed");
    desk.send(from, answer_of(message.job, *job));
    return desk.followers.follow(message.job, from, 0, desk.now);
  }
  if (const Tombstone* ended = desk.ledger.tombstone(message.job)) {
    const bool same = ended->client == client;
    if (same) answer.state = ended->state;
    return refuse(same ? Answer::kEnded : Answer::kConflict, "the job has ended and its results are gone");
  }
  const NodeId owner = desk.peers.ring_owner(message.job);
  if (desk.peers.draining()) return refuse(Answer::kDraining, "this gate drains", owner);
  if (owner != desk.self.node) return redirect(owner);
  if (!desk.current()) {
    // What is under way may still be accepted once there is a quorum again.
    if (submissions_.contains(message.job))
      return refuse(Answer::kQuorumTimeout, "the gates have no quorum at the moment");
    return refuse(Answer::kQuorumUnavailable, "the gates have no quorum, or this one is not caught up");
  }
  if (std::string wrong = fault(message); !wrong.empty()) return refuse(Answer::kInvalid, std::move(wrong));
  if (nowhere_to_run(desk.datacenters, message)) {
    return refuse(Answer::kNoDatacenter, desk.datacenters.why_none(message.datacenters));
  }
  if (!submissions_.contains(message.job) && !desk.proposals.allow(desk.now)) {
    desk.note(Noted::kQuorumCircuitOpen, message.job);
    return refuse(Answer::kQuorumCircuitOpen, "the gates' log did not commit in time lately");
  }
  Submit mine = message;
  mine.client = client;
  if (!submissions_.add(desk, from, mine)) refuse(Answer::kCapacityExceeded, "too many submissions under way");
}

void GateRequests::on(GateDesk& desk, NodeId from, ClientId client, const StatusAsk& message) {
  StatusAnswer answer;
  answer.job = message.job;
  const GateLedgerJob* job = desk.ledger.job(message.job);
  if (limited(desk, message.job, client, Operation::kStatus, answer.retry_after)) {
    answer.answer = Answer::kLimited;
  } else if (job != nullptr && job->client != client) {
    answer.answer = Answer::kConflict;
  } else if (job != nullptr) {
    const Answer mine = voice(desk, message.job, *job);
    if (mine == Answer::kAccepted) answer = status_of(message.job, *job);
    answer.answer = mine;
    answer.leader = job->owner.node;
  } else if (const Tombstone* ended = desk.ledger.tombstone(message.job)) {
    const bool same = ended->client == client;
    answer.answer = same ? Answer::kEnded : Answer::kConflict;
    if (same) answer.state = ended->state;
  } else if (!submissions_.contains(message.job)) {
    const Answer why = unavailable(desk);
    answer.answer = why == Answer::kAccepted ? Answer::kUnknownJob : why;
  }
  desk.send(from, std::move(answer));
}

// Any gate takes a cancellation: it is a fact of the log, which the owner acts upon.
void GateRequests::on(GateDesk& desk, NodeId from, ClientId client, const Cancel& message) {
  CancelAnswer answer;
  answer.job = message.job;
  answer.retry_after = desk.options.retry_after;
  const auto refuse = [&](Answer why) {
    answer.answer = why;
    desk.send(from, answer);
  };
  if (limited(desk, message.job, client, Operation::kCancel, answer.retry_after)) return refuse(Answer::kLimited);
  const GateLedgerJob* job = desk.ledger.job(message.job);
  const Tombstone* ended = desk.ledger.tombstone(message.job);
  if (job == nullptr && ended == nullptr) {
    const Answer why = unavailable(desk);
    if (why != Answer::kAccepted) return refuse(why);
    // One that is being submitted can be cancelled as soon as it is.
    return refuse(submissions_.contains(message.job) ? Answer::kOverloaded : Answer::kUnknownJob);
  }
  if (client != (job != nullptr ? job->client : ended->client)) return refuse(Answer::kConflict);
  if (job == nullptr || job->end) {
    answer.done = true;
    return refuse(Answer::kEnded);
  }
  if (job->cancel) {
    desk.followers.cancels(message.job, from, desk.now);
    return refuse(Answer::kAccepted);
  }
  const JobCancelled command{message.job, client, message.requester, message.reason};
  const bool under_way = desk.proposals.under_way(subject_of(command));
  if (!desk.current()) return refuse(Answer::kQuorumUnavailable);
  if (!under_way && !desk.proposals.allow(desk.now)) return refuse(Answer::kQuorumCircuitOpen);
  auto& waiting = cancellers_[message.job];
  if (std::ranges::find(waiting, from) == waiting.end()) {
    if (waiting.size() >= kMaxFollowers) waiting.erase(waiting.begin());
    waiting.push_back(from);
  }
  if (!under_way && !desk.propose(command)) {
    cancellers_.erase(message.job);
    refuse(Answer::kOverloaded);
  }
}

bool GateRequests::on(GateDesk& desk, NodeId from, ClientId client, const Reconnect& message) {
  StatusAnswer answer;
  answer.job = message.job;
  const GateLedgerJob* job = desk.ledger.job(message.job);
  if (limited(desk, message.job, client, Operation::kReconnect, answer.retry_after)) {
    answer.answer = Answer::kLimited;
  } else if (job != nullptr && job->client == client) {
    if (const Answer mine = voice(desk, message.job, *job); mine != Answer::kAccepted) {
      SubmitAnswer redirect = answer_of(message.job, *job);
      redirect.answer = mine;
      redirect.retry_after = desk.options.retry_after;
      if (mine == Answer::kNotOwner) desk.note(Noted::kRedirected, message.job, job->epoch, job->owner.node);
      desk.send(from, std::move(redirect));
      return false;
    }
    desk.send(from, status_of(message.job, *job));
    desk.send(from, desk.peers.ring());
    desk.followers.follow(message.job, from, message.workflows_seen, desk.now);
    return true;
  } else if (job != nullptr) {
    answer.answer = Answer::kConflict;
  } else if (const Tombstone* ended = desk.ledger.tombstone(message.job)) {
    const bool same = ended->client == client;
    answer.answer = same ? Answer::kEnded : Answer::kConflict;
    if (same) answer.state = ended->state;
  } else {
    const Answer why = unavailable(desk);
    answer.answer = why == Answer::kAccepted ? Answer::kUnknownJob : why;
  }
  desk.send(from, std::move(answer));
  return false;
}

void GateRequests::on(GateDesk& desk, NodeId from, ClientId client, const DatacentersAsk&) {
  base::Duration retry_after{};
  if (limited(desk, {}, client, Operation::kStats, retry_after)) {
    return desk.send(from, Datacenters{Answer::kLimited, retry_after, {}});
  }
  desk.send(from, Datacenters{Answer::kAccepted, {}, desk.datacenters.list()});
}

// Only from the job's own client: nobody else's word lets an end be forgotten.
void GateRequests::on(GateDesk& desk, NodeId from, ClientId client, const EndAck& message) {
  const GateLedgerJob* job = desk.ledger.job(message.job);
  if (job == nullptr || !job->end || job->client != client) return;
  desk.followers.acknowledged(message.job, from);
  if (!job->acknowledged) desk.propose(EndAcknowledged{message.job});
}

void GateRequests::applied(GateDesk& desk, const JobSubmitted& command, Verdict verdict, bool own) {
  // Whichever gate it came through, it counts for the client.
  if (!own && verdict == Verdict::kApplied) limiter_.admit(number(command.client), Operation::kSubmit, desk.now);
  if (!own && !took_effect(verdict)) return;
  const NodeId from = submissions_.applied(desk, command.job, verdict);
  const GateLedgerJob* job = desk.ledger.job(command.job);
  if (from == kNoNode || job == nullptr) return;
  SubmitAnswer answer = answer_of(command.job, *job);
  if (!job->end && job->owner != desk.self) {
    answer.answer = Answer::kNotOwner;
  } else {
    answer.reason = warning(desk.datacenters, *job);
    desk.followers.follow(command.job, from, 0, desk.now);
  }
  desk.send(from, std::move(answer));
  desk.send(from, desk.peers.ring());
}

void GateRequests::applied(GateDesk& desk, const JobCancelled& command, Verdict verdict, bool own) {
  if (!own && verdict == Verdict::kApplied) limiter_.admit(number(command.client), Operation::kCancel, desk.now);
  if (own || took_effect(verdict)) tell_cancellers(desk, command.job, answer_of(verdict), took_effect(verdict));
}

void GateRequests::timed_out(GateDesk& desk, const JobCancelled& command) {
  tell_cancellers(desk, command.job, Answer::kQuorumTimeout, false);
}

bool GateRequests::limited(GateDesk& desk, JobId job, ClientId client, Operation operation,
                           base::Duration& retry_after) {
  const auto limit = limiter_.admit(number(client), operation, desk.now);
  if (limit.admitted) return false;
  retry_after = limit.retry_after;
  desk.note(Noted::kLimited, job);
  return true;
}

Answer GateRequests::unavailable(const GateDesk& desk) const {
  if (!desk.current()) return Answer::kQuorumUnavailable;
  return desk.proposals.circuit_closed(desk.now) ? Answer::kAccepted : Answer::kQuorumCircuitOpen;
}

void GateRequests::tell_cancellers(GateDesk& desk, JobId job, Answer answer, bool keep) {
  const auto at = cancellers_.find(job);
  if (at == cancellers_.end()) return;
  for (const NodeId node : at->second) {
    CancelAnswer message;
    message.job = job;
    message.answer = answer;
    message.done = answer == Answer::kEnded;
    message.retry_after = desk.options.retry_after;
    desk.send(node, message);
    if (keep) desk.followers.cancels(job, node, desk.now);
  }
  cancellers_.erase(at);
}

}  // namespace muster::cluster
