#include "cluster/gate_submissions.h"

#include <algorithm>

#include "cluster/submissions.h"

namespace muster::cluster {

bool GateSubmissions::add(GateDesk& desk, NodeId from, const Submit& submit) {
  const auto known = pending_.find(submit.job);
  if (known != pending_.end()) {
    // A repetition, perhaps over another connection: that one is answered, and has the bundle, too.
    if (known->second.submit.client == submit.client && known->second.from != from) {
      known->second.from = from;
      desk.bodies.pin(known->second.submit.bundle, from, desk.now, desk.effects);
      desk.bodies.unpin(known->second.submit.bundle, desk.now);
    }
    return true;
  }
  if (pending_.size() >= kMaxPendingSubmits) return false;
  pending_.emplace(submit.job, Pending{from, submit, desk.now + desk.options.submit_timeout});
  desk.bodies.pin(submit.bundle, from, desk.now, desk.effects);
  return true;
}

base::Instant GateSubmissions::step(GateDesk& desk) {
  base::Instant due = base::kNever;
  for (auto at = pending_.begin(); at != pending_.end();) {
    const Pending& pending = at->second;
    const Submit& submit = pending.submit;
    if (desk.now >= pending.give_up) {
      const bool here = desk.bodies.here(submit.bundle);
      refuse(desk, pending, here ? Answer::kQuorumTimeout : Answer::kBundleMissing,
             here ? "the bundle did not reach a majority of gates in time" : "the bundle did not arrive in time");
      at = remove(desk, at);
      continue;
    }
    due = std::min(due, pending.give_up);
    if (desk.current() && desk.bodies.on_majority(submit.bundle)) propose(desk, submit);
    ++at;
  }
  return due;
}

NodeId GateSubmissions::applied(GateDesk& desk, JobId job, Verdict verdict) {
  const auto at = pending_.find(job);
  if (at == pending_.end()) return kNoNode;
  const NodeId from = at->second.from;
  const GateLedgerJob* accepted = took_effect(verdict) ? desk.ledger.job(job) : nullptr;
  if (accepted == nullptr) {
    refuse(desk, at->second, answer_of(verdict), to_text(verdict));
  } else if (accepted->client != at->second.submit.client) {
    refuse(desk, at->second, Answer::kConflict, "the id belongs to another client's job");
    accepted = nullptr;
  }
  remove(desk, at);
  return accepted != nullptr ? from : kNoNode;
}

void GateSubmissions::timed_out(GateDesk& desk, JobId job) {
  const auto at = pending_.find(job);
  if (at == pending_.end()) return;
  refuse(desk, at->second, Answer::kQuorumTimeout,
         "not committed in time; it may still be: ask again with the same id");
  remove(desk, at);
}

void GateSubmissions::propose(GateDesk& desk, const Submit& submit) {
  JobSubmitted command;
  command.job = submit.job;
  if (desk.proposals.under_way(subject_of(command))) return;
  // The lease counts from here: from when the grant is asked for.
  const auto grant = desk.leases.submitting(submit.job, desk.now);
  if (!grant) return;
  command.client = submit.client;
  command.owner = desk.self;
  command.renewal = *grant;
  command.bundle = submit.bundle;
  command.outline = submit.outline;
  command.datacenters = submit.datacenters;
  command.count = submit.datacenter_count;
  command.reroute = submit.reroute_on_datacenter_loss;
  desk.propose(std::move(command));
}

void GateSubmissions::refuse(GateDesk& desk, const Pending& pending, Answer answer, std::string_view reason) {
  SubmitAnswer message;
  message.job = pending.submit.job;
  message.answer = answer;
  message.retry_after = desk.options.retry_after;
  message.reason = reason;
  desk.send(pending.from, message);
}

GateSubmissions::Table::iterator GateSubmissions::remove(GateDesk& desk, Table::iterator at) {
  desk.bodies.unpin(at->second.submit.bundle, desk.now);
  return pending_.erase(at);
}

}  // namespace muster::cluster
