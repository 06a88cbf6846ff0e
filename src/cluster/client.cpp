#include "cluster/client.h"

#include <algorithm>

#include "resilience/options.h"

namespace muster::cluster {
namespace {

using About = ClientAnswer::About;

// Answers that wait to be told; the user asks less than that at once.
constexpr std::size_t kMaxAnswers = 4 * kMaxFollowed;

About about(CallKind kind) {
  switch (kind) {
    case CallKind::kSubmit:
      return About::kSubmit;
    case CallKind::kFollow:
      return About::kFollow;
    case CallKind::kStatus:
      return About::kStatus;
    case CallKind::kCancel:
      return About::kCancel;
    case CallKind::kDatacenters:
      break;
  }
  return About::kDatacenters;
}

}  // namespace

Client::Client(const ClientSettings& settings, base::Instant now)
    : client_(settings.client),
      options_(settings.options),
      calls_(settings.gates, settings.seed, settings.options),
      bodies_(settings.self, settings.hash, BodyOptions{}, {}, now, Bodies::Copies::kHere),
      callbacks_(resilience::kClientCallbacks),
      now_(now) {}

bool Client::submit(JobRequest request, base::Instant now) {
  if (jobs_.size() >= kMaxFollowed && !jobs_.contains(request.job)) return false;
  Job& job = session(request.job);
  job.heard = now;
  job.bundle = request.bundle;
  job.bytes = std::make_shared<const std::string>(std::move(request.bytes));
  Submit message;
  message.job = request.job;
  message.client = client_;
  message.bundle = request.bundle;
  message.outline = std::move(request.outline);
  message.datacenters = std::move(request.datacenters);
  message.datacenter_count = request.count;
  message.reroute_on_datacenter_loss = request.reroute;
  return calls_.begin({CallKind::kSubmit, request.job}, std::move(message), now, effects_);
}

bool Client::follow(JobId job, base::Instant now) {
  if (jobs_.size() >= kMaxFollowed && !jobs_.contains(job)) return false;
  Job& followed = session(job);
  followed.asked = true;
  search(job, followed, now);
  return true;
}

void Client::status(JobId job, base::Instant now) {
  calls_.begin({CallKind::kStatus, job}, StatusAsk{job, client_}, now, effects_);
}

void Client::cancel(JobId job, std::string requester, std::string reason, base::Instant now) {
  calls_.begin({CallKind::kCancel, job}, Cancel{job, client_, 0, std::move(requester), std::move(reason)}, now,
               effects_);
}

void Client::datacenters(base::Instant now) {
  calls_.begin({CallKind::kDatacenters, {}}, DatacentersAsk{}, now, effects_);
}

void Client::fetch(JobId job, const BodyRef& body, base::Instant now) {
  const auto at = jobs_.find(job);
  if (at == jobs_.end() || fetching_.size() >= kMaxFollowed || fetching_.contains(body.hash)) return;
  if (bodies_.here(body)) return pending_.fetched.push_back(body.hash);
  fetching_.emplace(body.hash, std::pair(job, body));
  bodies_.pin(body, at->second.gate, now, effects_);
}

void Client::body_stored(const BodyHash& hash, bool ok, base::Instant now) {
  bodies_.stored(hash, ok, now, effects_);
  if (!ok) return;
  const auto fetched = fetching_.extract(hash);
  if (fetched.empty()) return;
  bodies_.unpin(fetched.mapped().second, now);
  pending_.fetched.push_back(hash);
}

void Client::receive(NodeId from, const Message& message, base::Instant now) {
  calls_.heard(from);
  std::visit([&](const auto& each) { on(from, each, now); }, message);
  wake(now);
}

void Client::disconnected(NodeId gate, base::Instant now) {
  calls_.lost(gate, now, effects_);
  for (auto& [id, job] : jobs_) {
    if (job.gate == gate && !job.end) search(id, job, now);
  }
  wake(now);
}

void Client::wake(base::Instant now) {
  now_ = now;
  bodies_.wake(now, effects_, true);
  for (const ClientCalls::GaveUp& call : calls_.wake(now, effects_)) gave_up(call);
  for (auto& [id, job] : jobs_) {
    if (job.gate == kNoNode || job.end || now < job.heard + options_.silence) continue;
    search(id, job, now);
  }
}

base::Instant Client::deadline() const {
  base::Instant next = std::min(calls_.deadline(), bodies_.deadline());
  for (const auto& [id, job] : jobs_) {
    if (job.gate != kNoNode && !job.end) next = std::min(next, job.heard + options_.silence);
  }
  if (!pending_.empty()) next = std::min(next, callbacks_.ready_at(now_));
  return next;
}

std::optional<ClientUpdate> Client::update(base::Instant now) {
  now_ = now;
  if (pending_.empty() || !callbacks_.take(now)) return std::nullopt;
  for (const auto& [id, job] : jobs_) tell_totals(id, job);
  return std::exchange(pending_, {});
}

const JobEnd* Client::ended(JobId job) const {
  const auto at = jobs_.find(job);
  return at == jobs_.end() || !at->second.end ? nullptr : &*at->second.end;
}

const GateStatistics* Client::statistics(JobId job) const {
  const auto at = jobs_.find(job);
  return at == jobs_.end() ? nullptr : &at->second.statistics;
}

void Client::on(NodeId from, const SubmitAnswer& message, base::Instant now) {
  const auto at = jobs_.find(message.job);
  if (at == jobs_.end()) return;
  const CallName submit{CallKind::kSubmit, message.job};
  // To a reconnection, it says who owns the job, or that nobody can say; a manager also says so that it is followed.
  const CallName follow{CallKind::kFollow, message.job};
  if (calls_.under_way(follow) && (message.answer != Answer::kAccepted || !calls_.under_way(submit))) {
    if (!calls_.answered(follow, from, message.answer, message.leader, message.retry_after, now, effects_)) return;
    tell(About::kFollow, message.job, message.answer, message.reason);
    if (message.answer != Answer::kAccepted) return drop(message.job);
    return followed(message.job, at->second, from, message.epoch, now);
  }
  if (!calls_.answered(submit, from, message.answer, message.leader, message.retry_after, now, effects_)) return;
  at->second.bytes.reset();
  if (message.answer == Answer::kAccepted) followed(message.job, at->second, from, message.epoch, now);
  tell(About::kSubmit, message.job, message.answer, message.reason);
  if (message.answer != Answer::kAccepted) drop(message.job);
}

void Client::on(NodeId from, const StatusAnswer& message, base::Instant now) {
  const CallName asked{CallKind::kStatus, message.job};
  if (calls_.answered(asked, from, message.answer, message.leader, message.retry_after, now, effects_)) {
    tell(About::kStatus, message.job, message.answer, message.reason);
    pending_.answers.back().status = message;
  }
  const CallName follow{CallKind::kFollow, message.job};
  const auto at = jobs_.find(message.job);
  if (at == jobs_.end()) return;
  if (!calls_.answered(follow, from, message.answer, message.leader, message.retry_after, now, effects_)) {
    if (at->second.gate == from && message.answer == Answer::kAccepted) current(at->second, from, message.epoch, now);
    return;
  }
  if (message.answer != Answer::kAccepted || std::exchange(at->second.asked, false)) {
    tell(About::kFollow, message.job, message.answer, message.reason);
  }
  if (message.answer != Answer::kAccepted) return drop(message.job);
  followed(message.job, at->second, from, message.epoch, now);
}

void Client::on(NodeId from, const CancelAnswer& message, base::Instant now) {
  const CallName asked{CallKind::kCancel, message.job};
  const bool first = calls_.answered(asked, from, message.answer, kNoNode, message.retry_after, now, effects_);
  if (!first && !(message.answer == Answer::kAccepted && message.done)) return;
  tell(About::kCancel, message.job, message.answer);
  pending_.answers.back().cancel = message;
}

void Client::on(NodeId from, const WorkflowEnded& message, base::Instant now) {
  const auto at = jobs_.find(message.job);
  if (at == jobs_.end() || at->second.end || !current(at->second, from, message.epoch, now)) return;
  Job& job = at->second;
  if (message.sequence == 0) return take(job, message);
  if (message.sequence > job.results + 1) return search(message.job, job, now);
  if (message.sequence != job.results + 1 || job.results >= kMaxGateResults) return;
  ++job.results;
  pending_.results.push_back(message);
}

// Of a manager, who numbers none.
void Client::take(Job& job, const WorkflowEnded& message) {
  if (message.status.workflow >= kMaxWorkflows || !job.ended.insert(message.status.workflow).second) return;
  pending_.results.push_back(message);
}

void Client::on(NodeId from, const JobEnd& message, base::Instant now) {
  const auto at = jobs_.find(message.job);
  if (at == jobs_.end()) {
    effects_.push_back(Send{from, EndAck{message.job}});
    return;
  }
  Job& job = at->second;
  job.heard = now;
  if (!job.end) {
    // Acknowledged only with every result at hand.
    if (message.results > job.results) return search(message.job, job, now);
    for (const WorkflowStatus& status : message.workflows) take(job, {message.job, message.epoch, status});
    job.end = message;
    pending_.ends.push_back(message);
    calls_.taken_on(message.job);
    calls_.cancel({CallKind::kFollow, message.job});
    calls_.cancel({CallKind::kSubmit, message.job});
  }
  effects_.push_back(Send{from, EndAck{message.job}});
}

void Client::on(NodeId from, const WindowPush& message, base::Instant now) {
  const auto at = jobs_.find(message.job);
  if (at == jobs_.end() || !current(at->second, from, message.epoch, now)) return;
  Job& job = at->second;
  // Windows were waited for at the gate; here they are only merged.
  WindowPush totals = message;
  totals.windows.clear();
  if (!job.statistics.take(message.datacenter, from, totals, now)) return;
  pending_.progress.try_emplace(message.job);
  for (const WindowRow& row : message.windows) {
    job.window = std::max(job.window, row.window);
    pending_.add(message.job, message.datacenter, row);
  }
}

void Client::on(NodeId from, const Datacenters& message, base::Instant now) {
  const CallName asked{CallKind::kDatacenters, {}};
  if (!calls_.answered(asked, from, message.answer, kNoNode, message.retry_after, now, effects_)) return;
  pending_.datacenters = message.list;
}

void Client::on(NodeId, const Ring& message, base::Instant) {
  calls_.ring(message);
}

void Client::on(NodeId from, const BodyWanted& message, base::Instant) {
  for (const auto& [id, job] : jobs_) {
    if (job.bundle != message.body || !job.bytes) continue;
    const std::size_t offset = std::min<std::size_t>(message.offset, job.bytes->size());
    effects_.push_back(Send{from, BodyPiece{message.body.hash, message.offset, job.bytes->substr(offset, kBodyPiece)}});
    return;
  }
  effects_.push_back(Send{from, BodyMissing{message.body.hash, false}});
}

void Client::on(NodeId from, const BodyPiece& message, base::Instant now) {
  bodies_.receive(from, message, now, effects_);
}

void Client::on(NodeId from, const BodyMissing& message, base::Instant now) {
  bodies_.receive(from, message, now, effects_);
}

bool Client::current(Job& job, NodeId from, std::uint64_t epoch, base::Instant now) {
  if (epoch < job.epoch) return false;
  job.epoch = epoch;
  if (from == job.gate) job.heard = now;
  return true;
}

void Client::search(JobId id, const Job& job, base::Instant now) {
  const CallName name{CallKind::kFollow, id};
  jobs_.at(id).gate = kNoNode;
  if (calls_.under_way(name)) return;
  calls_.begin(name, Reconnect{id, client_, job.results, job.window}, now, effects_);
}

void Client::followed(JobId id, Job& job, NodeId gate, std::uint64_t epoch, base::Instant now) {
  job.gate = gate;
  job.heard = now;
  job.epoch = std::max(job.epoch, epoch);
  calls_.owner(id, gate);
  calls_.taken_on(id);
  // What was being fetched elsewhere is here, too.
  for (const auto& [hash, wanted] : fetching_) {
    if (wanted.first != id) continue;
    bodies_.pin(wanted.second, gate, now, effects_);
    bodies_.unpin(wanted.second, now);
  }
}

void Client::tell(About about, JobId job, std::optional<Answer> answer, std::string reason) {
  if (pending_.answers.size() >= kMaxAnswers) pending_.answers.erase(pending_.answers.begin());
  ClientAnswer told;
  told.about = about;
  told.job = job;
  told.answer = answer;
  told.reason = std::move(reason);
  pending_.answers.push_back(std::move(told));
}

void Client::gave_up(const ClientCalls::GaveUp& call) {
  tell(about(call.name.kind), call.name.job, call.last,
       call.last ? "given up after several tries" : "no gate answered");
  if (call.name.kind == CallKind::kSubmit || call.name.kind == CallKind::kFollow) drop(call.name.job);
}

// Of a job that has progress to tell.
void Client::tell_totals(JobId id, const Job& job) {
  const auto at = pending_.progress.find(id);
  if (at == pending_.progress.end()) return;
  for (const std::uint32_t workflow : job.statistics.workflows()) {
    at->second.totals[workflow] = job.statistics.totals(workflow);
  }
}

// What a session before it had still to tell comes again.
Client::Job& Client::session(JobId id) {
  const auto [at, fresh] = jobs_.try_emplace(id);
  if (fresh) std::erase_if(pending_.results, [id](const WorkflowEnded& each) { return each.job == id; });
  return at->second;
}

void Client::drop(JobId job) {
  if (const auto at = jobs_.find(job); at != jobs_.end()) {
    tell_totals(job, at->second);
    jobs_.erase(at);
  }
  for (auto at = fetching_.begin(); at != fetching_.end();) {
    if (at->second.first != job) {
      ++at;
      continue;
    }
    bodies_.unpin(at->second.second, now_);
    at = fetching_.erase(at);
  }
  calls_.forget(job);
  calls_.cancel({CallKind::kFollow, job});
  calls_.cancel({CallKind::kSubmit, job});
}

}  // namespace muster::cluster
