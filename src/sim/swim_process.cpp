#include "sim/swim_process.h"

#include <algorithm>
#include <utility>

#include "sim/options.h"

namespace muster::sim {
namespace {

constexpr std::uint16_t kPort = 9000;
// Names are resolved anew this often, and oftener while nobody has answered yet.
constexpr base::Duration kSeedsEvery = std::chrono::seconds(60);
constexpr base::Duration kSeedsWhileAlone = std::chrono::milliseconds(500);

}  // namespace

cores::Endpoint endpoint_of(Address address) {
  return cores::ipv4_endpoint(static_cast<std::uint32_t>(address), kPort);
}

Address address_of(const cores::Endpoint& endpoint) {
  return static_cast<Address>(cores::ipv4_host(endpoint));
}

void SwimProcess::start(Host& host) {
  cores::SwimSelf self{.id = node_,
                       .address = endpoint_of(host.address()),
                       .incarnation = first_incarnation(host),
                       .state = options_.state};
  // A roster serves the first life only: later ones have nothing but their seeds.
  const std::shared_ptr<const cores::Roster> known = host.life() == 0 ? options_.known : nullptr;
  core_ = std::make_unique<cores::Swim>(std::move(self), options_.swim, host.random().next(), host.now(), known);
  resolve_seeds(host);
  settle(host);
}

std::uint64_t SwimProcess::first_incarnation(Host& host) const {
  switch (options_.lives) {
    case SwimLives::kForgotten:
      break;
    case SwimLives::kCounted:
      return host.life() * kIncarnationsPerLife + 1;
    case SwimLives::kWallClock:
      return static_cast<std::uint64_t>(host.wall_clock() / std::chrono::milliseconds(1));
  }
  return 1;
}

void SwimProcess::receive(Host& host, const Packet& packet) {
  if (held_) {
    if (held_in_.size() < kMaxBacklog) {
      held_in_.push_back({packet.from, packet.sender, packet.channel, std::string(packet.bytes)});
    }
    return;
  }
  const auto channel = packet.channel == Channel::kStream ? cores::SwimChannel::kStream : cores::SwimChannel::kDatagram;
  core_->receive(packet.sender, endpoint_of(packet.from), channel, packet.bytes, host.now());
  watcher_->received(*this, packet);
  settle(host);
}

void SwimProcess::wake(Host& host) {
  if (host.now() >= resolve_at_) resolve_seeds(host);
  core_->wake(host.now());
  settle(host);
}

void SwimProcess::release(Host& host) {
  held_ = false;
  for (cores::SwimSend& one : std::exchange(held_out_, {})) send(host, std::move(one));
  for (const Received& one : std::exchange(held_in_, {})) {
    receive(host, {.from = one.from, .sender = one.sender, .channel = one.channel, .bytes = one.bytes});
  }
}

void SwimProcess::leave(Host& host) {
  core_->leave(host.now());
  settle(host);
}

void SwimProcess::set_state(Host& host, std::string state, bool announce) {
  core_->set_state(std::move(state), announce, host.now());
  settle(host);
}

void SwimProcess::lag(Host& host, double ratio) {
  core_->lag(ratio, host.now());
  settle(host);
}

void SwimProcess::resolve_seeds(Host& host) {
  if (options_.seeds.empty()) return;
  std::vector<cores::Endpoint> seeds;
  for (const base::NodeId seed : options_.seeds) {
    const std::optional<Address> address = seed == node_ ? std::nullopt : host.resolve(seed);
    if (address) seeds.push_back(endpoint_of(*address));
  }
  // Names that do not resolve say nothing: what is known stays.
  if (!seeds.empty()) core_->join(seeds, host.now());
  resolve_at_ = host.now() + (core_->joined() ? kSeedsEvery : kSeedsWhileAlone);
}

void SwimProcess::settle(Host& host) {
  cores::SwimEffects effects = core_->take();
  for (const cores::SwimEvent& event : effects.events) {
    watcher_->saw(*this, event);
    if (event.kind == cores::SwimEventKind::kLeft && event.node == node_) host.halt("left the group");
  }
  for (cores::SwimSend& one : effects.sends) {
    watcher_->sent(*this, one);
    if (held_) {
      held_out_.push_back(std::move(one));
    } else {
      send(host, std::move(one));
    }
  }
  host.alarm(std::min(core_->deadline(), resolve_at_));
}

void SwimProcess::send(Host& host, cores::SwimSend send) {
  const bool stream = send.channel == cores::SwimChannel::kStream;
  host.send(address_of(send.to), stream ? Channel::kStream : Channel::kDatagram, std::move(send.bytes));
}

}  // namespace muster::sim
