#include "sim/cluster_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cluster/message_codec.h"
#include "cores/swim_codec.h"
#include "model/node_state_codec.h"
#include "sim/swim_process.h"

namespace muster::sim {

using cluster::BodyHash;
using cluster::Effect;

namespace {

constexpr std::string_view kBodyPrefix = "body-";
// A brain that is due again at once is woken after this: what takes no time would stop the clock.
constexpr base::Duration kShortest = std::chrono::microseconds(100);
// The loop's interval, against which its lag is measured.
constexpr base::Duration kLoop = std::chrono::seconds(1);
constexpr base::Duration kReading = std::chrono::microseconds(300);
constexpr base::Duration kResolveEvery = std::chrono::seconds(60);
constexpr base::Duration kResolveWhileAlone = std::chrono::seconds(5);
constexpr std::size_t kUsualFrame = 160;

std::optional<BodyHash> body_of(std::string_view file) {
  if (!file.starts_with(kBodyPrefix)) return std::nullopt;
  file.remove_prefix(kBodyPrefix.size());
  BodyHash hash;
  for (std::size_t i = 0; i < hash.words.size(); ++i)
    hash.words[i] = std::stoull(std::string(file.substr(16 * i, 16)), nullptr, 16);
  return hash;
}

}  // namespace

ClusterShared::ClusterShared(Kernel& the_kernel, const ClusterSetup& the_setup)
    : kernel(the_kernel),
      setup(the_setup),
      map(the_setup),
      runs(the_kernel, the_setup),
      log(the_kernel, the_setup, runs),
      talk(the_kernel, log),
      resources(the_kernel),
      leases(the_kernel),
      limits(the_kernel, log, runs),
      echoes(log),
      gates(the_kernel) {
  gates.founded(map.gates());
  for (std::uint32_t i = 0; i < map.datacenters(); ++i) {
    managers.push_back(std::make_unique<RaftOracle>(the_kernel));
    managers.back()->founded(map.founders(i));
  }
}

bool ClusterShared::gates_keep_time() const {
  return std::ranges::all_of(map.gates(), [this](base::NodeId gate) { return runs.keeps_time(gate); });
}

void ClusterProcess::start(Host& host) {
  shared_->runs.booted(host.self());
  shared_->talk.booted(host.self());
  shared_->resources.booted(host.self(), self(host).life);
  std::set<BodyHash> kept;
  for (const cluster::BodyRef& body : bodies_on_disk(host)) kept.insert(body.hash);
  shared_->log.found(host.self(), std::move(kept));
  running_ = begin(host);
  if (running_) settle(host);
}

void ClusterProcess::receive(Host& host, const Packet& packet) {
  if (packet.bytes.empty() || !running_) return;
  if (packet.authentic && shared_->kernel.elapsed() - packet.sent > shared_->setup.oldest_message) {
    shared_->kernel.hit("message refused as too old");
    return;
  }
  const auto kind = static_cast<Frame>(packet.bytes.front());
  const std::string_view bytes = packet.bytes.substr(1);
  if (packet.authentic && packet.channel == Channel::kStream) know(packet.sender, packet.from);
  const auto channel = packet.channel == Channel::kStream ? cores::SwimChannel::kStream : cores::SwimChannel::kDatagram;
  switch (kind) {
    case Frame::kMessage: {
      const auto message = cluster::decode_message(bytes);
      if (message && packet.authentic) {
        if (shared_->setup.echoes && !shared_->echoes.heard(host.self(), packet, *message)) return;
        on_message(host, packet.sender, *message);
      } else if (packet.authentic) {
        shared_->kernel.violate(
            "30", fmt::format("node {} does not understand what node {} sent: {}", base::number(host.self()),
                              base::number(packet.sender), message.error().message));
      }
      break;
    }
    case Frame::kRaft:
      on_raft(host, packet.sender, bytes, packet.authentic);
      break;
    case Frame::kNear:
    case Frame::kFar: {
      cores::Swim* const core = (kind == Frame::kNear ? near_ : far_).core.get();
      if (!packet.authentic) {
        static_cast<void>(cores::decode_swim(bytes));
      } else if (core != nullptr) {
        core->receive(packet.sender, endpoint_of(packet.from), channel, bytes, host.now());
      }
      break;
    }
  }
  settle(host);
}

void ClusterProcess::wake(Host& host) {
  if (!running_) return;
  tell_lag(host);
  for (Membership* each : {&near_, &far_}) {
    if (!each->core) continue;
    if (host.now() >= each->resolve_at) resolve_seeds(host, *each);
    if (host.now() >= each->core->deadline()) each->core->wake(host.now());
  }
  read_bodies(host);
  on_wake(host);
  settle(host);
}

void ClusterProcess::written(Host& host, WriteTicket ticket, bool ok) {
  if (!running_) return;
  if (const auto stored = storing_.find(ticket); stored != storing_.end()) {
    const BodyHash hash = stored->second;
    storing_.erase(stored);
    if (host.traced()) host.trace("body {:x} {}", hash.words.back(), ok ? "stored" : "not stored");
    if (ok) shared_->log.kept(host.self(), hash);
    if (!ok) shared_->kernel.hit("body not stored");
    on_body_stored(host, hash, ok);
  } else if (const auto dropped = dropping_.find(ticket); dropped != dropping_.end()) {
    dropping_.erase(dropped);
  } else if (!on_written(host, ticket, ok)) {
    return;
  }
  settle(host);
}

void ClusterProcess::closed(Host& host, Address peer) {
  if (!running_) return;
  std::vector<base::NodeId> gone;
  for (const auto& [node, address] : addresses_) {
    if (address == peer) gone.push_back(node);
  }
  for (const base::NodeId node : gone) {
    if (const auto at = place_of(node); at != addresses_.end() && at->node == node) addresses_.erase(at);
    on_gone(host, node);
  }
  settle(host);
}

void ClusterProcess::perform(Host& host, cluster::Effects effects) {
  for (Effect& effect : effects) {
    if (auto* out = std::get_if<cluster::Send>(&effect)) {
      shared_->talk.leaves(host.self(), out->to, out->message);
      std::string frame = frame_of(Frame::kMessage);
      cluster::encode(out->message, frame);
      const std::size_t size = frame.size() - 1;
      if (size > (1u << 20))
        shared_->kernel.violate("27",
                                fmt::format("node {} sends a message of {} bytes", base::number(host.self()), size));
      if (shared_->setup.echoes)
        shared_->echoes.leaves(out->message, {.sender = host.self(),
                                              .from = host.address(),
                                              .to = out->to,
                                              .sent = shared_->kernel.elapsed(),
                                              .frame = frame});
      if (host.traced()) host.trace("→ {}: {}", base::number(out->to), cluster::name_of(out->message));
      say(host, out->to, std::move(frame));
    } else if (auto* stored = std::get_if<cluster::StoreBody>(&effect)) {
      const BodyHash hash = stored->body.hash;
      storing_.emplace(host.replace(body_file(hash), std::move(stored->bytes)), hash);
    } else if (auto* wanted = std::get_if<cluster::ReadBody>(&effect)) {
      reading_.emplace_back(host.now() + kReading, wanted->body);
    } else if (auto* dropped = std::get_if<cluster::DropBody>(&effect)) {
      if (host.traced()) host.trace("drops body {:x}", dropped->hash.words.back());
      shared_->log.dropped(host.self(), dropped->hash);
      dropping_.emplace(host.replace(body_file(dropped->hash), {}), dropped->hash);
      shared_->kernel.hit("body dropped");
    } else if (auto* note = std::get_if<cluster::Note>(&effect)) {
      shared_->talk.noted(*note);
      shared_->resources.noted(host.self(), *note);
      if (host.traced())
        host.trace("{}: part {}.{} of job {}, fence {}.{}, node {}", cluster::to_text(note->what), note->part.workflow,
                   note->part.part, cluster::number(note->part.job), note->fence.epoch, note->fence.attempt,
                   base::number(note->node));
    } else {
      carry_out(host, effect);
    }
  }
}

void ClusterProcess::say(Host& host, base::NodeId to, std::string frame) {
  auto known = place_of(to);
  if (known == addresses_.end() || known->node != to) {
    const std::optional<Address> address = host.resolve(to);
    if (!address) return;
    known = addresses_.insert(known, {to, *address});
  }
  host.send(known->address, Channel::kStream, std::move(frame));
}

std::string ClusterProcess::frame_of(Frame kind) {
  std::string frame;
  frame.reserve(kUsualFrame);
  frame.push_back(static_cast<char>(kind));
  return frame;
}

void ClusterProcess::know(base::NodeId node, Address address) {
  const auto at = place_of(node);
  if (at != addresses_.end() && at->node == node) {
    at->address = address;
  } else {
    addresses_.insert(at, {node, address});
  }
}

std::vector<ClusterProcess::Known>::iterator ClusterProcess::place_of(base::NodeId node) {
  return std::ranges::lower_bound(addresses_, node, {}, &Known::node);
}

void ClusterProcess::join(Host& host, bool far, std::uint64_t group, const cores::SwimOptions& options,
                          std::vector<base::NodeId> seeds, const model::NodeState& state) {
  Membership& membership = far ? far_ : near_;
  cores::SwimSelf self{.id = host.self(),
                       .address = endpoint_of(host.address()),
                       .incarnation = host.life() * kIncarnationsPerLife + 1,
                       .state = model::encode(state)};
  cores::SwimOptions own = options;
  own.group = group;
  membership.told = state;
  membership.seeds = std::move(seeds);
  membership.core = std::make_unique<cores::Swim>(std::move(self), own, host.random().next(), host.now());
  resolve_seeds(host, membership);
}

void ClusterProcess::tell_state(Host& host, const model::NodeState& state) {
  for (Membership* each : {&near_, &far_}) {
    if (!each->core || state == each->told) continue;
    const bool now = cluster::urgent(each->told, state);
    if (!now && host.now() < each->tell_at) continue;
    each->told = state;
    each->tell_at = host.now() + kStateEvery;
    each->core->set_state(model::encode(state), now, host.now());
  }
}

std::vector<cluster::BodyRef> ClusterProcess::bodies_on_disk(Host& host) {
  std::vector<cluster::BodyRef> bodies;
  for (const std::string& file : host.files()) {
    if (const auto hash = body_of(file)) bodies.push_back({*hash, host.contents(file).size()});
  }
  return bodies;
}

std::string ClusterProcess::body_file(const BodyHash& hash) {
  std::string name(kBodyPrefix);
  name.reserve(kBodyPrefix.size() + 16 * hash.words.size());
  for (const std::uint64_t word : hash.words) {
    for (unsigned shift = 64; shift > 0; shift -= 4) name.push_back("0123456789abcdef"[(word >> (shift - 4)) & 15]);
  }
  return name;
}

void ClusterProcess::settle(Host& host) {
  // Membership first: what it says may make the brain act.
  settle(host, near_, false);
  settle(host, far_, true);
  drain(host);
  settle(host, near_, false);
  settle(host, far_, true);
  base::Instant due = next();
  for (const Membership* each : {&near_, &far_}) {
    if (each->core) due = std::min({due, each->core->deadline(), each->resolve_at});
  }
  if (!reading_.empty()) due = std::min(due, reading_.front().first);
  armed_ = due == base::kNever ? due : std::max(due, host.now() + kShortest);
  host.alarm(armed_);
}

void ClusterProcess::settle(Host& host, Membership& membership, bool far) {
  if (!membership.core || membership.core->quiet()) return;
  cores::SwimEffects effects = membership.core->take();
  for (cores::SwimSend& each : effects.sends) {
    std::string frame;
    frame.reserve(each.bytes.size() + 1);
    frame.push_back(static_cast<char>(far ? Frame::kFar : Frame::kNear));
    frame.append(each.bytes);
    const bool stream = each.channel == cores::SwimChannel::kStream;
    host.send(address_of(each.to), stream ? Channel::kStream : Channel::kDatagram, std::move(frame));
  }
  for (const cores::SwimEvent& event : effects.events) {
    if (event.node == host.self()) continue;
    const cores::Member* const member = membership.core->members().get(event.node);
    std::optional<cluster::Liveness> liveness = cluster::liveness_of(event.kind);
    if (!liveness && event.kind == cores::SwimEventKind::kStateChanged && member != nullptr)
      liveness =
          member->status == cores::MemberStatus::kSuspect ? cluster::Liveness::kSuspect : cluster::Liveness::kAlive;
    if (!liveness) continue;
    std::optional<model::NodeState> state;
    if (member != nullptr && member->state) {
      if (auto decoded = model::decode_node_state(member->state->bytes)) state = std::move(*decoded);
    }
    on_member(host, far, event.node, *liveness, state ? &*state : nullptr);
  }
}

void ClusterProcess::resolve_seeds(Host& host, Membership& membership) {
  std::vector<cores::Endpoint> seeds;
  for (const base::NodeId seed : membership.seeds) {
    const std::optional<Address> address = seed == host.self() ? std::nullopt : host.resolve(seed);
    if (address && seeds.size() < cores::kMaxSeeds) seeds.push_back(endpoint_of(*address));
  }
  if (!seeds.empty()) membership.core->join(seeds, host.now());
  membership.resolve_at = host.now() + (membership.core->joined() ? kResolveEvery : kResolveWhileAlone);
}

// How late this node gets to its alarms is how far its loop lags behind.
void ClusterProcess::tell_lag(Host& host) {
  if (armed_ == base::kNever) return;
  const base::Duration late = host.now() - armed_;
  shared_->runs.late(host.self(), late);
  lag_ = std::max(lag_, late);
  if (host.now() < lag_due_) return;
  lag_due_ = host.now() + kLoop;
  const double ratio = base::seconds(std::exchange(lag_, {})) / base::seconds(kLoop);
  for (Membership* each : {&near_, &far_}) {
    if (each->core) each->core->lag(ratio, host.now());
  }
}

void ClusterProcess::read_bodies(Host& host) {
  while (!reading_.empty() && reading_.front().first <= host.now()) {
    const BodyHash hash = reading_.front().second.hash;
    reading_.pop_front();
    const std::string_view bytes = host.contents(body_file(hash));
    std::optional<std::string> read;
    if (!bytes.empty()) read = std::string(bytes);
    on_body_read(host, hash, std::move(read));
  }
}

}  // namespace muster::sim
