// What a gate does with messages: of clients, of managers, and of other gates.
#include <algorithm>
#include <type_traits>

#include "cluster/gate.h"
#include "cluster/gate_command_codec.h"

namespace muster::cluster {
namespace {

template <class T, class... Listed>
constexpr bool kOneOf = (std::is_same_v<T, Listed> || ...);

// Above all epochs of a job's owners: of who speaks for one that nobody owns any more.
constexpr std::uint64_t kNobodysEpoch = UINT64_MAX;

}  // namespace

void Gate::receive(NodeId from, ClientId client, const Message& message, base::Instant now) {
  GateDesk at = desk(now);
  if (client == ClientId{}) {
    std::visit([&](const auto& each) { on_node(at, from, each); }, message);
  } else if (!shed(at, from, client, message)) {
    std::visit([&](const auto& each) { on_client(at, from, client, each); }, message);
  }
  settle(now);
}

// Only of what clients ask for: what managers and gates say keeps leases alive, and a datacenter must not be given up
// because this gate has much to do. Whoever waits for an answer gets one; all else is repeated by its sender.
bool Gate::shed(GateDesk& desk, NodeId from, ClientId client, const Message& message) {
  const auto priority = static_cast<resilience::Priority>(class_of(message));
  const auto admission = shedder_.admit(priority, number(client), load_, desk.now);
  if (admission.admitted) return false;
  ++turned_away_[message.index()];
  if (const auto* submit = std::get_if<Submit>(&message)) {
    SubmitAnswer answer;
    answer.job = submit->job;
    answer.answer = Answer::kOverloaded;
    answer.retry_after = admission.retry_after;
    desk.send(from, std::move(answer));
    return true;
  }
  if (std::holds_alternative<DatacentersAsk>(message)) {
    desk.send(from, Datacenters{Answer::kOverloaded, admission.retry_after, {}});
    return true;
  }
  const auto* const ask = std::get_if<StatusAsk>(&message);
  const auto* const reconnect = std::get_if<Reconnect>(&message);
  if (ask != nullptr || reconnect != nullptr) {
    StatusAnswer answer;
    answer.job = ask != nullptr ? ask->job : reconnect->job;
    answer.answer = Answer::kOverloaded;
    answer.retry_after = admission.retry_after;
    desk.send(from, std::move(answer));
  }
  return true;
}

template <class Request>
void Gate::on_client(GateDesk& desk, NodeId from, ClientId client, const Request& message) {
  if constexpr (kOneOf<Request, Submit, StatusAsk, Cancel, EndAck>) {
    requests_.on(desk, from, client, message);
    touch(message.job);
    requests_due_ = desk.now;
  } else if constexpr (kOneOf<Request, DatacentersAsk>) {
    requests_.on(desk, from, client, message);
  } else if constexpr (kOneOf<Request, Reconnect>) {
    if (!requests_.on(desk, from, client, message)) return;
    touch(message.job);
    if (const GateJob* machine = owned(message.job)) {
      for (WindowPush& push : machine->everything(message.job)) desk.send(from, std::move(push));
    }
  } else if constexpr (kOneOf<Request, BodyWanted, BodyPiece, BodyMissing>) {
    // A client brings its bundle and takes its results.
    bodies_.receive(from, message, desk.now, effects_);
  }
}

template <class Told>
void Gate::on_node(GateDesk& desk, NodeId from, const Told& message) {
  if constexpr (kOneOf<Told, SubmitAnswer, StatusAnswer, CancelAnswer, WorkflowEnded, JobEnd, WindowPush>) {
    on_manager(desk, from, message);
  } else if constexpr (kOneOf<Told, OwnerAsk, Forward, ManagerState>) {
    on(desk, from, message);
  } else if constexpr (kOneOf<Told, BodyOffer, BodyWanted, BodyPiece, BodyMissing>) {
    bodies_.receive(from, message, desk.now, effects_);
  } else if constexpr (kOneOf<Told, BodyHeld>) {
    bodies_.receive(from, message);
  }
}

template <class Told>
void Gate::on_manager(GateDesk& desk, NodeId from, const Told& message) {
  const std::string datacenter = datacenters_.datacenter_of(from);
  if (datacenter.empty()) return;
  if (GateJob* machine = owned(message.job)) {
    machine->receive(desk, datacenter, from, message);
    return touch(message.job);
  }
  if constexpr (kOneOf<Told, WorkflowEnded, JobEnd, WindowPush>) {
    on_stranger(desk, from, message.job, kOneOf<Told, JobEnd>);
  }
}

// About a job that this gate does not own: whoever does is to be told, or nobody any more.
void Gate::on_stranger(GateDesk& desk, NodeId from, JobId id, bool end) {
  const GateLedgerJob* job = ledger_.job(id);
  if (job != nullptr && !job->end) return desk.send(from, OwnerIs{id, job->owner.node, job->epoch});
  if (!end) return stop_ended(desk, from, id);
  if (job != nullptr || ledger_.tombstone(id) != nullptr) desk.send(from, EndAck{id});
}

// What a datacenter still runs of a job that has ended here was given up, perhaps long ago: nobody else remembers it.
void Gate::stop_ended(GateDesk& desk, NodeId manager, JobId id) {
  const auto cancel = [&](ClientId client, std::uint64_t epoch) {
    desk.send(manager, Cancel{id, client, epoch, "gate", "the job has ended at the gates"});
  };
  if (const GateLedgerJob* job = ledger_.job(id)) {
    if (job->end) cancel(job->client, job->epoch);
  } else if (const Tombstone* ended = ledger_.tombstone(id)) {
    cancel(ended->client, kNobodysEpoch);
  }
}

void Gate::on(GateDesk& desk, NodeId from, const OwnerAsk& message) {
  const GateLedgerJob* job = ledger_.job(message.job);
  if (job == nullptr) {
    // Nobody will own it again, so this gate may take its end.
    if (ledger_.tombstone(message.job) == nullptr) return;
    desk.send(from, GateAnnounce{message.job, kNobodysEpoch});
    return stop_ended(desk, from, message.job);
  }
  const bool mine = job->end || leases_.holds(message.job, job->epoch, desk.now);
  if (mine) {
    desk.send(from, GateAnnounce{message.job, job->epoch});
    stop_ended(desk, from, message.job);
  } else if (job->owner != self_) {
    desk.send(from, OwnerIs{message.job, job->owner.node, job->epoch});
  }
}

// Only what can be read gets into the log, and only in the name of who sent it.
void Gate::on(GateDesk& desk, NodeId from, const Forward& message) {
  const LogStanding& standing = proposals_.standing();
  if (standing.leader != self_.node || !std::ranges::binary_search(standing.voters, from)) return;
  const auto entry = decode_gate_entry(message.entry);
  if (!entry || entry->proposer.node != from) return;
  desk.effects.push_back(Propose{message.entry});
}

void Gate::on(GateDesk&, NodeId from, const ManagerState& message) {
  if (peers_.told(from, message)) bodies_.peer(from, message.life);
}

}  // namespace muster::cluster
