#include "sim/cluster_logged.h"

#include <algorithm>
#include <set>

#include "cluster/command_codec.h"
#include "cluster/gate_command_codec.h"
#include "cores/raft_codec.h"
#include "sim/cluster_oracle_routing.h"
#include "sim/cluster_program.h"

namespace muster::sim {

namespace {

// The whole state is compared, and snapshots are made, at entries whose index is a multiple of this.
constexpr cores::RaftIndex kCompared = 16;

cluster::LogSeatOptions seat_options(const ClusterSetup& setup, const cores::RaftOptions& raft,
                                     const std::vector<base::NodeId>& founders, bool founder) {
  cluster::LogSeatOptions options;
  options.raft = raft;
  if (founder) options.founders = founders;
  options.snapshot_after = setup.snapshot_after;
  return options;
}

bool is_founder(const ClusterShared& shared, base::NodeId node) {
  const auto& founders = shared.map.founders(ClusterMap::datacenter(node));
  return std::ranges::find(founders, node) != founders.end();
}

std::vector<base::NodeId> far_seeds(const ClusterMap& map) {
  std::vector<base::NodeId> seeds = map.gates();
  for (std::uint32_t i = 0; i < map.datacenters(); ++i)
    seeds.insert(seeds.end(), map.founders(i).begin(), map.founders(i).end());
  return seeds;
}

}  // namespace

void LoggedProcess::change(Host& host, const cores::RaftChange& change) {
  act(host, [&] { seat_->change(change, host.now()); });
}

void LoggedProcess::transfer(Host& host, base::NodeId to) {
  act(host, [&] { seat_->transfer(to, host.now()); });
}

bool LoggedProcess::begin(Host& host) {
  const std::string_view journal = host.contents(kJournal);
  auto recovered = cores::recover_raft_journal(journal);
  if (!recovered) {
    shared_->kernel.violate("30",
                            fmt::format("node {} cannot read its journal, which only crashes and failed writes have "
                                        "touched: {}",
                                        base::number(host.self()), recovered.error().message));
    host.halt("damaged journal");
    return false;
  }
  const bool fresh = recovered->valid_bytes == 0 && !options_.founders.empty();
  oracle_->recovered(host.self(), fresh ? cores::founding_image(options_.founders) : recovered->image);
  auto seat = cluster::LogSeat::open(host.self(), options_, journal, host.random().next(), host.now());
  if (!seat) return false;
  seat_.emplace(std::move(*seat));
  if (seat_->valid_bytes() < journal.size())
    writing_.emplace_back(host.truncate(kJournal, seat_->valid_bytes()), cores::RaftWrite{});
  step_down_.emplace(host.self());
  make_brain(host);
  return true;
}

void LoggedProcess::on_raft(Host& host, base::NodeId from, std::string_view bytes, bool authentic) {
  const auto message = cores::decode_raft_message(bytes);
  if (message && authentic) seat_->receive(from, *message, host.now());
}

bool LoggedProcess::on_written(Host& host, WriteTicket ticket, bool ok) {
  if (writing_.empty() || writing_.front().first != ticket) return false;
  const cores::RaftWrite write = std::move(writing_.front().second);
  writing_.pop_front();
  if (!ok) {
    seat_->failed(host.now());
    host.halt("a write failed");
    return false;
  }
  if (write.ticket == 0) return true;
  oracle_->durable(host.self(), write);
  seat_->persisted(write.ticket, host.now());
  return true;
}

void LoggedProcess::on_wake(Host& host) {
  if (host.now() >= seat_->deadline()) seat_->wake(host.now());
  carry_out_log(host);
  stand(host);
  wake_brain(host.now());
}

void LoggedProcess::drain(Host& host) {
  for (bool more = true; more;) {
    more = carry_out_log(host);
    stand(host);
    cluster::Effects effects = take();
    more = more || !effects.empty();
    perform(host, std::move(effects));
  }
  if (seat_->wants_snapshot() && seat_->applied() % kCompared == 0 && seat_->compact(snapshot())) {
    shared_->kernel.hit("log compacted");
    carry_out_log(host);
  }
  settled(host);
  carry_out_log(host);
}

base::Instant LoggedProcess::next() const {
  return std::min(seat_->deadline(), brain_due());
}

bool LoggedProcess::carry_out(Host& host, cluster::Effect& effect) {
  auto* const proposal = std::get_if<cluster::Propose>(&effect);
  if (proposal == nullptr) return false;
  seat_->propose(std::move(proposal->entry), host.now());
  return true;
}

bool LoggedProcess::hand_over(Host& host, bool draining) {
  const auto to = step_down_->step(seat_->standing(host.now()), score(), draining, host.now());
  if (to) seat_->transfer(*to, host.now());
  if (to && !draining) shared_->kernel.hit("unwell leader hands over");
  return !seat_->raft().leads();
}

bool LoggedProcess::carry_out_log(Host& host) {
  if (seat_->quiet()) return false;
  cluster::LogEffects effects = seat_->take();
  if (host.traced() && seat_->raft().leads() != leads_) {
    leads_ = !leads_;
    host.trace("{} in term {}", leads_ ? "LEADS" : "leads no more", seat_->raft().term());
  }
  if (effects.empty()) return false;
  for (cluster::LogWrite& write : effects.writes) {
    const WriteTicket ticket =
        write.anew ? host.replace(kJournal, std::move(write.bytes)) : host.append(kJournal, std::move(write.bytes));
    writing_.emplace_back(ticket, std::move(write.what));
  }
  for (const cores::RaftSend& each : effects.sends) {
    oracle_->leaves(host.self(), each.to, each.message);
    std::string frame = frame_of(Frame::kRaft);
    cores::encode(each.message, frame);
    say(host, each.to, std::move(frame));
  }
  for (const cores::RaftApply& each : effects.applies) apply(host, each);
  if (!effects.applies.empty()) oracle_->applied_all(host.self(), seat_->raft());
  for (const cores::RaftAnswer& each : effects.answers) {
    if (each.outcome == cores::RaftOutcome::kCommitted) shared_->kernel.hit("members changed");
    if (each.outcome == cores::RaftOutcome::kHandedOver) shared_->kernel.hit("leadership handed over");
  }
  return true;
}

void LoggedProcess::apply(Host& host, const cores::RaftApply& what) {
  stand(host);
  if (const auto* snapshot = std::get_if<cores::RaftSnapshot>(&what)) {
    if (snapshot->index > 0 && !restore(snapshot->bytes(), host.now()))
      shared_->kernel.violate("log-equal",
                              fmt::format("node {} cannot take over a snapshot", base::number(host.self())));
    seat_->applied(snapshot->index);
    shared_->kernel.hit("snapshot taken over");
    oracle_->installed(host.self(), *snapshot, snapshot->index == 0 ? 0 : digest());
    return;
  }
  const auto& entry = std::get<cores::RaftEntry>(what);
  const bool first = entry.index == oracle_->committed() + 1;
  if (entry.kind == cores::RaftEntryKind::kCommand) apply_entry(host, entry, first);
  seat_->applied(entry.index);
  oracle_->applied(host.self(), seat_->raft(), entry, entry.index % kCompared == 0 ? digest() : 0);
}

ManagerProcess::ManagerProcess(ClusterShared& shared, base::NodeId node)
    : LoggedProcess(shared, *shared.managers[ClusterMap::datacenter(node)],
                    seat_options(shared.setup, shared.setup.raft, shared.map.founders(ClusterMap::datacenter(node)),
                                 is_founder(shared, node))),
      self_(node),
      place_(ClusterMap::datacenter(node)) {}

void ManagerProcess::make_brain(Host& host) {
  cluster::ManagerSettings settings;
  settings.self = self(host);
  settings.cluster = "sim";
  settings.environment = "test";
  settings.seed = host.random().next();
  settings.hash = hash_body;
  settings.options = shared_->setup.manager;
  shared_->limits.begins(self_);
  brain_.emplace(settings, bodies_on_disk(host), host.now());
  const model::NodeState state = presence(host, seat_->standing(host.now()));
  join(host, false, kFirstPlaceGroup + place_, shared_->setup.lan, shared_->map.managers(place_), state);
  if (!shared_->map.gates().empty()) join(host, true, kFarGroup, shared_->setup.wan, far_seeds(shared_->map), state);
}

void ManagerProcess::on_message(Host& host, base::NodeId from, const cluster::Message& message) {
  stand(host);
  if (std::holds_alternative<cluster::DispatchAnswer>(message) || std::holds_alternative<cluster::PartStopped>(message))
    shared_->resources.answers(host.self(), from);
  if (std::holds_alternative<cluster::Heartbeat>(message)) shared_->resources.hears(host.self(), from);
  if (const auto* ask = std::get_if<cluster::ExtensionAsk>(&message)) shared_->talk.asked(host.self(), *ask);
  const std::uint64_t turned_away = brain_->turned_away(message);
  brain_->receive(from, message, host.now());
  if (brain_->turned_away(message) != turned_away) shared_->resources.shed(host.self(), message, brain_->load());
}

void ManagerProcess::on_member(Host& host, bool far, base::NodeId node, cluster::Liveness liveness,
                               const model::NodeState* state) {
  if (state != nullptr) roles_[node] = cluster::role_of(*state);
  const auto role = roles_.find(node);
  if (role == roles_.end() || (far && role->second != cluster::NodeRole::kGate)) return;
  stand(host);
  brain_->member(node, role->second, liveness, state == nullptr ? std::nullopt : cluster::worker_state_of(*state),
                 host.now());
}

model::NodeState ManagerProcess::presence(Host& host, const cluster::LogStanding& standing) const {
  return cluster::with_pace(
      cluster::state_of_manager(host.self(), ClusterMap::name(place_), brain_->ledger().open_jobs().size(),
                                brain_->census(host.now()), standing, draining_),
      brain_->pace());
}

void ManagerProcess::on_body_stored(Host& host, const cluster::BodyHash& hash, bool ok) {
  stand(host);
  brain_->body_stored(hash, ok, host.now());
}

void ManagerProcess::on_body_read(Host& host, const cluster::BodyHash& hash, std::optional<std::string> bytes) {
  stand(host);
  brain_->body_read(hash, std::move(bytes), host.now());
}

void ManagerProcess::apply_entry(Host& host, const cores::RaftEntry& entry, bool first) {
  brain_->applied(entry.index, entry.command, host.now());
  const auto& open = brain_->ledger().open_jobs();
  if (!open.empty() && open.rbegin()->first == entry.index) shared_->limits.learns(self_, open.rbegin()->second);
  if (!first) return;
  const auto decoded = cluster::decode_entry(entry.command);
  if (!decoded) return;
  shared_->log.committed(place_, entry.index, *decoded, brain_->ledger(), seat_->raft().members().voters);
  shared_->limits.committed(place_, decoded->command, brain_->ledger());
}

bool ManagerProcess::restore(std::string_view state, base::Instant now) {
  if (!brain_->restored(state, now)) return false;
  for (const auto& [id, job] : brain_->ledger().jobs()) shared_->limits.learns(self_, id);
  return true;
}

cluster::Effects ManagerProcess::take() {
  cluster::Effects effects = brain_->take();
  for (const cluster::Effect& effect : effects) {
    if (const auto* out = std::get_if<cluster::Send>(&effect)) {
      shared_->resources.leaves(self_, out->to, out->message, *brain_);
      const auto* const forward = std::get_if<cluster::Forward>(&out->message);
      if (forward != nullptr) proposes(forward->entry);
    } else if (const auto* proposal = std::get_if<cluster::Propose>(&effect)) {
      proposes(proposal->entry);
    } else if (const auto* drop = std::get_if<cluster::DropBody>(&effect)) {
      shared_->log.drops(self_, drop->hash, brain_->ledger().bodies().contains(drop->hash));
    } else if (const auto* note = std::get_if<cluster::Note>(&effect)) {
      if (note->what == cluster::Noted::kDispatched) shared_->resources.begins_offer(self_, *note);
    }
  }
  return effects;
}

void ManagerProcess::proposes(const std::string& entry) {
  const auto decoded = cluster::decode_entry(entry);
  if (!decoded || decoded->proposer.node != self_) return;
  shared_->log.proposed(*decoded, brain_->standing().voters);
  if (const auto* owner = std::get_if<cluster::JobOwner>(&decoded->command))
    shared_->limits.proposes(decoded->proposer, decoded->sequence, *owner);
}

void ManagerProcess::settled(Host& host) {
  const cluster::LogStanding& standing = seat_->standing(host.now());
  const bool turned = standing.leader != told_.leader || standing.caught_up != told_.caught_up;
  if (!turned && host.now() < state_due_) return;
  told_ = standing;
  state_due_ = host.now() + kStateEvery;
  tell_state(host, presence(host, standing));
  if (!draining_ && critical(host)) {
    shared_->kernel.hit("critical manager steps down");
    draining_ = true;
    stand(host);
    brain_->drain(host.now());
    perform(host, take());
  }
  if (hand_over(host, draining_) && draining_ && brain_->drained()) {
    shared_->kernel.hit("manager drained");
    host.halt("drained");
  }
}

GateProcess::GateProcess(ClusterShared& shared)
    : LoggedProcess(shared, shared.gates,
                    seat_options(shared.setup, shared.setup.gate_raft, shared.map.gates(), true)) {}

void GateProcess::make_brain(Host& host) {
  self_ = host.self();
  cluster::GateSettings settings;
  process_ = settings.self = self(host);
  shared_->leases.begins(process_);
  settings.seed = host.random().next();
  settings.hash = hash_body;
  settings.options = shared_->setup.gate;
  settings.bodies = shared_->setup.manager.bodies;
  brain_.emplace(settings, bodies_on_disk(host), host.now());
  const model::NodeState state = cluster::state_of_gate(brain_->datacenters(), 0, false);
  join(host, false, kGateGroup, shared_->setup.lan, shared_->map.gates(), state);
  join(host, true, kFarGroup, shared_->setup.wan, far_seeds(shared_->map), state);
}

void GateProcess::on_message(Host& host, base::NodeId from, const cluster::Message& message) {
  stand(host);
  const bool client = ClusterMap::role(from) == ClusterMap::Role::kClient;
  // Who is no member speaks for nobody.
  if (!brain_->datacenters().datacenter_of(from).empty()) shared_->leases.hears(process_, from, message);
  const std::uint64_t turned_away = brain_->turned_away(message);
  brain_->receive(from, cluster::ClientId{client ? base::number(from) : 0}, message, host.now());
  if (brain_->turned_away(message) != turned_away) shared_->resources.shed(host.self(), message, brain_->load());
}

void GateProcess::on_member(Host& host, bool far, base::NodeId node, cluster::Liveness liveness,
                            const model::NodeState* state) {
  stand(host);
  turned_ = turned_ || far;
  if (!far) {
    brain_->gate(node, liveness != cluster::Liveness::kDead, host.now());
    return;
  }
  if (ClusterMap::role(node) != ClusterMap::Role::kManager) return;
  if (liveness == cluster::Liveness::kDead) {
    brain_->manager_died(node, host.now());
  } else if (const auto report = state == nullptr ? std::nullopt : cluster::report_of(node, *state)) {
    brain_->manager(*report, host.now());
  }
}

void GateProcess::on_gone(Host& host, base::NodeId peer) {
  if (ClusterMap::role(peer) != ClusterMap::Role::kClient) return;
  shared_->talk.parted(self_, peer);
  stand(host);
  brain_->left(peer, host.now());
}

void GateProcess::on_body_stored(Host& host, const cluster::BodyHash& hash, bool ok) {
  stand(host);
  brain_->body_stored(hash, ok, host.now());
}

void GateProcess::on_body_read(Host& host, const cluster::BodyHash& hash, std::optional<std::string> bytes) {
  stand(host);
  brain_->body_read(hash, std::move(bytes), host.now());
}

void GateProcess::apply_entry(Host& host, const cores::RaftEntry& entry, bool first) {
  brain_->applied(entry.index, entry.command, host.now());
  if (!first) return;
  const auto decoded = cluster::decode_gate_entry(entry.command);
  if (!decoded) return;
  shared_->log.committed(entry.index, *decoded, brain_->ledger(), seat_->raft().members().voters);
  shared_->leases.committed(*decoded, brain_->ledger(), shared_->gates_keep_time());
}

cluster::Effects GateProcess::take() {
  cluster::Effects effects = brain_->take();
  check(effects);
  if (!turned_) check_choices(effects);
  for (const cluster::Effect& effect : effects) {
    if (const auto* out = std::get_if<cluster::Send>(&effect)) {
      shared_->resources.leaves(self_, out->to, out->message, *brain_);
      const auto* const forward = std::get_if<cluster::Forward>(&out->message);
      if (forward != nullptr) proposes(forward->entry);
    } else if (const auto* proposal = std::get_if<cluster::Propose>(&effect)) {
      proposes(proposal->entry);
    } else if (const auto* drop = std::get_if<cluster::DropBody>(&effect)) {
      const auto names = [&](const auto& body) { return body.first.hash == drop->hash; };
      shared_->log.drops(self_, drop->hash, std::ranges::any_of(brain_->ledger().bodies(), names));
    }
  }
  return effects;
}

void GateProcess::proposes(const std::string& entry) {
  const auto decoded = cluster::decode_gate_entry(entry);
  if (!decoded || decoded->proposer.node != self_) return;
  shared_->log.proposed(*decoded, brain_->standing().voters);
  shared_->leases.proposed(*decoded, brain_->ledger());
}

// What it proposes and notes at once it has chosen just now; a proposal without a note is an old one, sent again.
void GateProcess::check_choices(const cluster::Effects& effects) {
  std::set<cluster::JobId> fresh;
  for (const cluster::Effect& effect : effects) {
    const auto* const note = std::get_if<cluster::Note>(&effect);
    if (note == nullptr) continue;
    if (note->what == cluster::Noted::kOffered || note->what == cluster::Noted::kFellBack) fresh.insert(note->part.job);
  }
  if (fresh.empty()) return;
  const std::vector<cluster::Datacenter> known = brain_->datacenters().list();
  for (const cluster::Effect& effect : effects) {
    const auto* const proposal = std::get_if<cluster::Propose>(&effect);
    const auto* const out = std::get_if<cluster::Send>(&effect);
    const auto* const forward = out == nullptr ? nullptr : std::get_if<cluster::Forward>(&out->message);
    if (proposal == nullptr && forward == nullptr) continue;
    const auto decoded = cluster::decode_gate_entry(proposal != nullptr ? proposal->entry : forward->entry);
    const auto* const choice = decoded ? std::get_if<cluster::SlotOffered>(&decoded->command) : nullptr;
    if (choice == nullptr || decoded->proposer != process_ || !fresh.contains(choice->fence.job)) continue;
    const cluster::GateLedgerJob* const job = brain_->ledger().job(choice->fence.job);
    if (job == nullptr) continue;
    shared_->kernel.hit("datacenter chosen");
    check_choice(shared_->kernel, self_, *choice, *job, known);
  }
}

// Whatever a gate orders in the name of a job it orders while it holds the lease, and under the epoch that the log gave
// last.
void GateProcess::check(const cluster::Effects& effects) {
  for (const cluster::Effect& effect : effects) {
    const auto* const out = std::get_if<cluster::Send>(&effect);
    if (out == nullptr || ClusterMap::role(out->to) != ClusterMap::Role::kManager) continue;
    cluster::JobId job{};
    std::uint64_t epoch = 0;
    if (const auto* submit = std::get_if<cluster::Submit>(&out->message)) {
      job = submit->job;
      epoch = submit->origin_epoch;
    } else if (const auto* cancel = std::get_if<cluster::Cancel>(&out->message)) {
      job = cancel->job;
      epoch = cancel->origin_epoch;
    } else {
      continue;
    }
    if (shared_->log.ended_at_gates(job)) continue;
    shared_->leases.acts(process_, job, epoch);
    const auto held = brain_->acts_for(job, shared_->kernel.clock_of(self_));
    if (held != epoch)
      shared_->kernel.violate("10", fmt::format("gate {} orders something for job {} under epoch {} without its lease",
                                                base::number(self_), cluster::number(job), epoch));
    if (epoch != shared_->log.gate_epoch(job) && shared_->gates_keep_time())
      shared_->kernel.violate("9",
                              fmt::format("gate {} acts for job {} under epoch {}, which is at {}", base::number(self_),
                                          cluster::number(job), epoch, shared_->log.gate_epoch(job)));
  }
}

void GateProcess::settled(Host& host) {
  turned_ = false;
  if (!draining_ && critical(host)) {
    shared_->kernel.hit("critical gate steps down");
    draining_ = true;
    stand(host);
    brain_->drain(host.now());
    perform(host, take());
  }
  if (hand_over(host, draining_) && draining_ && brain_->drained()) {
    shared_->kernel.hit("gate drained");
    host.halt("drained");
  }
}

}  // namespace muster::sim
