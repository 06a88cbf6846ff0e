// What a manager answers to clients, gates and other managers.
#include <algorithm>

#include "cluster/command_codec.h"
#include "cluster/job_status.h"
#include "cluster/manager.h"

namespace muster::cluster {
namespace {

// Waiting for one job's cancellation; more are answered by a status.
constexpr std::size_t kMaxCancellers = 16;

// On whose behalf a message is, for fair shares: the client's where it is named, else the sender's. Ids of nodes are
// scattered, so that they are none of clients.
struct ClientOf {
  NodeId from;

  std::uint64_t node() const { return base::mix(base::number(from)); }

  std::uint64_t operator()(const Submit& message) const { return number(message.client); }
  std::uint64_t operator()(const StatusAsk& message) const {
    return message.client == ClientId{} ? node() : number(message.client);
  }
  std::uint64_t operator()(const Reconnect& message) const { return number(message.client); }
  template <class Other>
  std::uint64_t operator()(const Other&) const {
    return node();
  }
};

}  // namespace

// Whoever waits for an answer gets one; all else is repeated by its sender.
bool Manager::shed(Desk& desk, NodeId from, const Message& message) {
  const auto* const ask = std::get_if<StatusAsk>(&message);
  if (ask != nullptr && of_gate(from, *ask)) return false;
  const auto priority = static_cast<resilience::Priority>(class_of(message));
  const auto admission = shedder_.admit(priority, std::visit(ClientOf{from}, message), load_, desk.now);
  if (admission.admitted) return false;
  ++turned_away_[message.index()];
  if (const auto* submit = std::get_if<Submit>(&message)) {
    SubmitAnswer answer;
    answer.job = submit->job;
    answer.answer = Answer::kOverloaded;
    answer.retry_after = admission.retry_after;
    desk.send(from, answer);
  } else if (const auto* reconnect = std::get_if<Reconnect>(&message)) {
    SubmitAnswer answer;
    answer.job = reconnect->job;
    answer.answer = Answer::kOverloaded;
    answer.retry_after = admission.retry_after;
    desk.send(from, answer);
  } else if (ask != nullptr) {
    StatusAnswer answer;
    answer.job = ask->job;
    answer.answer = Answer::kOverloaded;
    answer.retry_after = admission.retry_after;
    desk.send(from, answer);
  }
  return true;
}

// Membership may not know the gate yet that has just announced itself as the job's owner. Only gates name epochs: that
// clients do not is for the links to see to, which know who speaks.
bool Manager::gate(NodeId from, JobId id) const {
  if (gates_.contains(from)) return true;
  const LedgerJob* job = ledger_.job(id);
  const Origin origin = job == nullptr ? Origin{} : origin_of(id, *job);
  return origin.epoch > 0 && origin.node == from;
}

// A gate that asks for itself names nobody, and holds the datacenter's lease on the job by the answer. Were that shed
// or limited, a datacenter with much to do would be given up together with what it runs.
bool Manager::of_gate(NodeId from, const StatusAsk& message) const {
  return message.client == ClientId{} && gate(from, message.job);
}

void Manager::on(Desk& desk, NodeId from, const Submit& message) {
  SubmitAnswer answer;
  answer.job = message.job;
  answer.retry_after = options_.retry_after;
  const auto refuse = [&](Answer why, std::string reason) {
    answer.answer = why;
    answer.reason = std::move(reason);
    desk.send(from, answer);
  };
  const auto limited = limiter_.admit(number(message.client), resilience::Operation::kSubmit, desk.now);
  if (!limited.admitted) {
    answer.retry_after = limited.retry_after;
    desk.note(Noted::kLimited, {message.job, 0, 0});
    return refuse(Answer::kLimited, "too many submits of this client");
  }
  if (!current()) {
    // What is under way may still be accepted once there is a quorum again.
    if (submissions_.contains(message.job))
      return refuse(Answer::kQuorumTimeout, "the log has no quorum at the moment");
    return refuse(Answer::kQuorumUnavailable, "this manager has no quorum or is not caught up");
  }
  if (const LedgerJob* job = ledger_.job(message.job)) {
    if (job->client != message.client) return refuse(Answer::kConflict, "the id belongs to another client's job");
    if (!announced(desk, message.job, {from, message.origin_epoch})) {
      answer.leader = origin_of(message.job, *job).node;
      return refuse(Answer::kNotOwner, "another gate owns the job");
    }
    owners_.spoke(desk, message.job);
    return desk.send(from, answer_of(ledger_, message.job, *job));
  }
  if (const Tombstone* ended = ledger_.tombstone(message.job)) {
    const bool same = ended->client == message.client;
    if (same) answer.state = ended->state;
    return refuse(same ? Answer::kEnded : Answer::kConflict, "the job has ended and its results are gone");
  }
  // The others keep no bodies for one that only listens, so what it took on would never be theirs, too.
  if (!std::ranges::binary_search(standing_.voters, self_.node)) {
    return refuse(Answer::kQuorumUnavailable, "this manager has no vote in its group");
  }
  if (!submissions_.contains(message.job)) {
    if (draining_) return refuse(Answer::kDraining, "this manager drains");
    if (const auto layer = layers(message.outline); !layer) return refuse(Answer::kInvalid, layer.error().message);
    if (message.bundle.size == 0) return refuse(Answer::kInvalid, "the bundle is empty");
    if (ledger_.queued() >= kMaxQueued) {
      desk.note(Noted::kQueueFull, {message.job, 0, 0});
      return refuse(Answer::kCapacityExceeded, "the queue is full");
    }
    if (!proposals_.allow(desk.now)) {
      desk.note(Noted::kQuorumCircuitOpen, {message.job, 0, 0});
      return refuse(Answer::kQuorumCircuitOpen, "the log did not commit in time lately");
    }
  }
  if (!submissions_.add(desk, from, message)) refuse(Answer::kCapacityExceeded, "too many submissions under way");
}

void Manager::on(Desk& desk, NodeId from, const StatusAsk& message) {
  StatusAnswer answer;
  answer.job = message.job;
  const bool gate = of_gate(from, message);
  if (!gate) {
    const auto admission = limiter_.admit(ClientOf{from}(message), resilience::Operation::kStatus, desk.now);
    if (!admission.admitted) {
      desk.note(Noted::kLimited, {message.job, 0, 0});
      answer.answer = Answer::kLimited;
      answer.retry_after = admission.retry_after;
      return desk.send(from, answer);
    }
  }
  const LedgerJob* job = ledger_.job(message.job);
  if (job != nullptr && !gate && job->client != message.client) {
    answer.answer = Answer::kConflict;
  } else if (job != nullptr) {
    if (gate) owners_.spoke(desk, message.job);
    const SubmitAnswer known = answer_of(ledger_, message.job, *job);
    answer.state = known.state;
    answer.position = known.position;
    answer.leader = known.leader;
    answer.epoch = known.epoch;
    answer.reason = known.reason;
    answer.workflows = status_of(*job);
  } else if (const Tombstone* ended = ledger_.tombstone(message.job)) {
    // Who names nobody may be a gate of which membership has not heard: that it has ended is no secret, how is.
    const bool theirs = gate || ended->client == message.client;
    answer.answer = theirs || message.client == ClientId{} ? Answer::kEnded : Answer::kConflict;
    if (theirs) answer.state = ended->state;
  } else {
    answer.answer = current() ? Answer::kUnknownJob : Answer::kQuorumUnavailable;
  }
  desk.send(from, answer);
}

void Manager::on(Desk& desk, NodeId from, const Cancel& message) {
  CancelAnswer answer{.job = message.job, .retry_after = options_.retry_after};
  const auto refuse = [&](Answer why) {
    answer.answer = why;
    desk.send(from, answer);
  };
  // Gates have limited whoever asked them, and stop by themselves what they have given up, however much that is.
  if (message.origin_epoch == 0 || !gate(from, message.job)) {
    const auto limited = limiter_.admit(number(message.client), resilience::Operation::kCancel, desk.now);
    if (!limited.admitted) {
      answer.retry_after = limited.retry_after;
      desk.note(Noted::kLimited, {message.job, 0, 0});
      return refuse(Answer::kLimited);
    }
  }
  if (!current()) return refuse(Answer::kQuorumUnavailable);
  const LedgerJob* job = ledger_.job(message.job);
  CancelRequested command{message.job, message.requester, message.reason, JobState::kCancelled};
  if (job == nullptr) {
    if (const Tombstone* ended = ledger_.tombstone(message.job)) {
      return refuse(ended->client == message.client ? Answer::kEnded : Answer::kConflict);
    }
    if (message.origin_epoch == 0) return refuse(Answer::kUnknownJob);
    // A gate's submit may be under way through another manager.
    command.bury = true;
    command.client = message.client;
  } else {
    if (job->client != message.client) return refuse(Answer::kConflict);
    if (message.origin_epoch < origin_of(message.job, *job).epoch) return refuse(Answer::kNotOwner);
  }
  if (job != nullptr && job->end) {
    answer = cancelled(message.job, *job);
    return refuse(Answer::kEnded);
  }
  auto& waiting = cancellers_[message.job];
  if (std::ranges::find(waiting, from) == waiting.end() && waiting.size() < kMaxCancellers) waiting.push_back(from);
  if (job != nullptr && job->cancel) return refuse(Answer::kAccepted);
  const Subject subject = subject_of(command);
  desk.propose(std::move(command));
  if (!proposals_.under_way(subject)) {
    tell_cancellers(desk, message.job, {.job = message.job, .answer = Answer::kOverloaded}, true);
  }
}

void Manager::on(Desk& desk, NodeId from, const EndAck& message) {
  ends_.acknowledged(desk, message.job, from);
}

void Manager::on(Desk& desk, NodeId from, const GateAnnounce& message) {
  const LedgerJob* job = ledger_.job(message.job);
  if (job == nullptr) return;
  if (!announced(desk, message.job, {from, message.origin_epoch})) {
    SubmitAnswer answer;
    answer.job = message.job;
    answer.answer = Answer::kNotOwner;
    answer.leader = origin_of(message.job, *job).node;
    return desk.send(from, answer);
  }
  owners_.spoke(desk, message.job);
  // The leader must know, and the gate may not know the leader.
  if (job->owner.node != self_.node) {
    desk.send(job->owner.node, OwnerIs{message.job, from, message.origin_epoch});
  }
}

void Manager::on(Desk& desk, NodeId, const OwnerIs& message) {
  static_cast<void>(announced(desk, message.job, {message.gate, message.origin_epoch}));
}

// A client without a gate comes back, perhaps by another connection: it is told what it missed by whoever leads its
// job.
void Manager::on(Desk& desk, NodeId from, const Reconnect& message) {
  SubmitAnswer answer;
  answer.job = message.job;
  const auto limited = limiter_.admit(number(message.client), resilience::Operation::kReconnect, desk.now);
  const LedgerJob* job = ledger_.job(message.job);
  if (!limited.admitted) {
    answer.answer = Answer::kLimited;
    answer.retry_after = limited.retry_after;
  } else if (job == nullptr) {
    const Tombstone* ended = ledger_.tombstone(message.job);
    answer.answer = ended == nullptr                  ? (current() ? Answer::kUnknownJob : Answer::kQuorumUnavailable)
                    : ended->client == message.client ? Answer::kEnded
                                                      : Answer::kConflict;
  } else if (job->client != message.client) {
    answer.answer = Answer::kConflict;
  } else if (!job->end && !current()) {
    // Another manager may lead the job by now, and know more of it.
    answer.answer = Answer::kQuorumUnavailable;
  } else if (job->owner.node != self_.node && !job->end) {
    answer.answer = Answer::kNotOwner;
    answer.leader = job->owner.node;
    answer.epoch = job->epoch;
  } else {
    const Origin origin{from, origin_of(message.job, *job).epoch};
    static_cast<void>(announced(desk, message.job, origin));
    answer = answer_of(ledger_, message.job, *job);
    if (job->end) {
      // Told at once, even if a former life of the client has acknowledged it.
      answer.answer = Answer::kAccepted;
      desk.send(from, answer);
      if (JobMachine* machine = led(message.job)) {
        machine->announce(origin.node, origin.epoch);
        machine->push_last(desk);
      }
      return desk.send(from, JobEnd{message.job, job->epoch, job->end->state, job->end->reason, status_of(*job)});
    }
    // Also who is still known here may have missed what it was told.
    if (JobMachine* machine = led(message.job)) {
      machine->announce(origin.node, origin.epoch);
      touch(message.job);
    }
  }
  desk.send(from, answer);
}

Manager::Origin Manager::origin_of(JobId id, const LedgerJob& job) const {
  const auto at = origins_.find(id);
  return at == origins_.end() ? Origin{job.origin, job.origin_epoch} : at->second;
}

bool Manager::announced(Desk& desk, JobId id, const Origin& origin) {
  const LedgerJob* job = ledger_.job(id);
  if (job == nullptr) return true;
  const Origin known = origin_of(id, *job);
  if (origin.epoch < known.epoch) return false;
  if (origin.node == known.node && origin.epoch == known.epoch) return true;
  origins_[id] = origin;
  pass_on_origin(desk, id);
  return true;
}

void Manager::pass_on_origin(Desk& desk, JobId id) {
  const auto at = origins_.find(id);
  if (at == origins_.end()) return;
  ends_.announce(id, at->second.node, at->second.epoch, desk.now);
  others_due_ = desk.now;
  if (JobMachine* machine = led(id)) {
    machine->announce(at->second.node, at->second.epoch);
    touch(id);
  }
}

// Only what can be read gets into the log, and only in the name of who sent it.
void Manager::on(Desk& desk, NodeId from, const Forward& message) {
  if (standing_.leader != self_.node || !std::ranges::binary_search(standing_.voters, from)) return;
  const auto entry = decode_entry(message.entry);
  if (!entry || entry->proposer.node != from) return;
  desk.effects.push_back(Propose{message.entry});
}

void Manager::on(Desk& desk, NodeId from, const ManagerState& message) {
  const bool voter = std::ranges::binary_search(standing_.voters, from);
  if (voter && peers_.heard(from, message, desk.now)) bodies_.peer(from, message.life);
}

void Manager::tell_cancellers(Desk& desk, JobId job, const CancelAnswer& answer, bool done) {
  const auto at = cancellers_.find(job);
  if (at == cancellers_.end()) return;
  for (const NodeId from : at->second) desk.send(from, answer);
  if (done) cancellers_.erase(at);
}

}  // namespace muster::cluster
