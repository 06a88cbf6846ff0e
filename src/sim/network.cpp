#include "sim/network.h"

#include <algorithm>
#include <utility>

namespace muster::sim {

namespace {

// In place of a direction, for an event that ends a stream whose other end is gone.
constexpr std::uint32_t kPatienceOver = 2;

std::uint64_t pair_of(std::uint32_t a, std::uint32_t b) {
  return (std::uint64_t{std::min(a, b)} << 32) | std::max(a, b);
}

// The same packet once more, outside streams.
Event again(const Event& event, std::string bytes) {
  Event copy;
  copy.kind = EventKind::kDeliver;
  copy.channel = event.channel;
  copy.authentic = event.authentic;
  copy.node = event.node;
  copy.peer = event.peer;
  copy.life = event.life;
  copy.from = event.from;
  copy.sender = event.sender;
  copy.sent = event.sent;
  copy.bytes = std::move(bytes);
  return copy;
}

}  // namespace

Network::Network(Agenda& agenda, const NetworkOptions& options, std::uint64_t seed)
    : agenda_(&agenda), options_(options), random_(seed), owners_(1, ~0u) {}

void Network::add(base::NodeId id, std::uint32_t site) {
  nodes_.push_back({.id = id, .site = site});
}

void Network::up(std::uint32_t node, bool moved) {
  Node& it = nodes_[node];
  if (moved || it.address == Address{}) {
    it.previous = it.address;
    it.address = Address{static_cast<std::uint32_t>(owners_.size())};
    owners_.push_back(node);
  }
  it.up = true;
  ++it.life;
}

void Network::down(std::uint32_t node, bool half_open) {
  nodes_[node].up = false;
  for (std::uint32_t i = 0; i < streams_.size(); ++i) {
    Stream& stream = streams_[i];
    if (!stream.open || (stream.ends[0] != node && stream.ends[1] != node)) continue;
    if (half_open) {
      stream.severed = true;
      await_patience(i);
    } else {
      break_stream(i, stream.ends[0] != node, stream.ends[1] != node);
    }
  }
}

void Network::send(std::uint32_t from, Address to, Channel channel, std::string bytes) {
  ++traffic_.sent;
  const auto number = static_cast<std::uint32_t>(to);
  if (number == 0 || number >= owners_.size()) {
    ++traffic_.lost;
    return;
  }
  const std::uint32_t target = owners_[number];
  if (nodes_[target].address != to || !nodes_[target].up) {
    ++traffic_.lost;
    if (channel == Channel::kStream) refuse(from, to, target);
    return;
  }
  const Noise noise = noise_between(from, target);
  Event event;
  event.kind = EventKind::kDeliver;
  event.channel = channel;
  event.node = target;
  event.peer = from;
  event.life = number;
  event.from = nodes_[from].address;
  event.sender = nodes_[from].id;
  event.sent = agenda_->now();
  event.bytes = std::move(bytes);
  replay(event, noise);
  if (channel == Channel::kDatagram) {
    send_datagram(std::move(event), noise);
  } else {
    send_frame(std::move(event), noise);
  }
}

void Network::close(std::uint32_t from, Address peer) {
  const auto number = static_cast<std::uint32_t>(peer);
  if (number == 0 || number >= owners_.size()) return;
  const std::uint32_t target = owners_[number];
  const auto found = stream_of_.find(pair_of(from, target));
  if (found == stream_of_.end()) return;
  const Stream& stream = streams_[found->second];
  break_stream(found->second, stream.ends[0] != from, stream.ends[1] != from);
}

void Network::forge(base::NodeId sender, Address from, std::uint32_t to, Channel channel, std::string bytes,
                    bool authentic, base::Duration sent) {
  Event event;
  event.kind = EventKind::kDeliver;
  event.authentic = authentic;
  event.channel = channel;
  event.node = to;
  event.from = from;
  event.sender = sender;
  event.sent = sent.count();
  event.bytes = std::move(bytes);
  agenda_->push(agenda_->now() + travel(to, to, {}), std::move(event));
}

bool Network::arrives(Event& event) {
  if (!nodes_[event.node].up) {
    ++traffic_.lost;
    return false;
  }
  if (event.stream == kNoStream) {
    const bool there = event.life == 0 || event.life == static_cast<std::uint64_t>(nodes_[event.node].address);
    if (!there) ++traffic_.lost;
    return there;
  }
  Stream& stream = streams_[event.stream];
  if (stream.life != event.life) {
    ++traffic_.lost;
    return false;
  }
  Way& way = stream.ways[event.peer == stream.ends[0] ? 0 : 1];
  if (!way.held.empty() || !connected(event.peer, event.node)) {
    hold(event, stream, way);
    return false;
  }
  way.bytes -= event.bytes.size();
  if (!stream.severed) return true;
  ++traffic_.lost;
  // Whoever speaks to a next life on a connection of the last one is told so.
  const std::size_t end = event.node == stream.ends[0] ? 0 : 1;
  if (nodes_[event.node].life != stream.lives[end]) break_stream(event.stream, end != 0, end != 1);
  return false;
}

void Network::retry(const Event& event) {
  Stream& stream = streams_[event.stream];
  if (stream.life != event.life) return;
  if (event.peer == kPatienceOver) {
    break_stream(event.stream, true, true);
    return;
  }
  Way& way = stream.ways[event.peer];
  if (connected(stream.ends[event.peer], stream.ends[1 - event.peer])) {
    const std::vector<std::uint32_t> held = std::exchange(way.held, {});
    way.last_arrival = agenda_->now();
    for (const std::uint32_t kept : held) agenda_->push_kept(agenda_->now(), kept);
  } else if (agenda_->now() >= way.held_till) {
    break_stream(event.stream, true, true);
  } else {
    way.pause = std::min(way.pause * 2, kLastRetry.count());
    try_again(event.stream, event.peer, way.pause);
  }
}

std::uint32_t Network::cut(NodeSet from, NodeSet to) {
  cuts_.push_back({.name = ++cuts_named_, .from = std::move(from), .to = std::move(to)});
  return cuts_named_;
}

void Network::mend(std::uint32_t cut) {
  std::erase_if(cuts_, [cut](const Cut& each) { return each.name == cut; });
}

bool Network::connected(std::uint32_t from, std::uint32_t to) const {
  for (const Cut& cut : cuts_)
    if (cut.from.has(from) && cut.to.has(to)) return false;
  return true;
}

Noise& Network::noise(std::uint32_t node) {
  if (noises_.size() < nodes_.size()) noises_.resize(nodes_.size());
  nodes_[node].noisy = true;
  return noises_[node];
}

void Network::hush() {
  everywhere_ = {};
  noises_.clear();
  for (Node& node : nodes_) node.noisy = false;
}

void Network::sever(std::uint32_t node) {
  for (std::uint32_t i = 0; i < streams_.size(); ++i) {
    Stream& stream = streams_[i];
    if (!stream.open || (stream.ends[0] != node && stream.ends[1] != node)) continue;
    stream.severed = true;
    await_patience(i);
  }
}

void Network::end_severed() {
  for (std::uint32_t i = 0; i < streams_.size(); ++i)
    if (streams_[i].open && streams_[i].severed) break_stream(i, true, true);
}

Noise Network::noise_between(std::uint32_t from, std::uint32_t to) const {
  Noise all = everywhere_;
  for (const std::uint32_t node : {from, to}) {
    if (!nodes_[node].noisy) continue;
    const Noise& one = noises_[node];
    all.loss = std::max(all.loss, one.loss);
    all.duplicate = std::max(all.duplicate, one.duplicate);
    all.reorder = std::max(all.reorder, one.reorder);
    all.replay = std::max(all.replay, one.replay);
    all.corrupt = std::max(all.corrupt, one.corrupt);
    all.raw = all.raw || one.raw;
    all.delay = std::max(all.delay, one.delay);
  }
  return all;
}

std::int64_t Network::travel(std::uint32_t from, std::uint32_t to, const Noise& noise) {
  const Latency& latency = nodes_[from].site == nodes_[to].site ? options_.within_site : options_.between_sites;
  const auto spread = static_cast<std::uint64_t>((latency.most - latency.least).count()) + 1;
  double time = static_cast<double>(latency.least.count()) + static_cast<double>(random_.below(spread));
  if (chance(latency.tail_share)) time += random_.exponential() * static_cast<double>(latency.tail.count());
  if (noise.delay > 0) time += random_.exponential() * static_cast<double>(noise.delay);
  return static_cast<std::int64_t>(time);
}

void Network::send_datagram(Event&& event, const Noise& noise) {
  if (!connected(event.peer, event.node) || chance(noise.loss) || !spoil(event, noise)) {
    ++traffic_.lost;
    return;
  }
  if (chance(noise.duplicate)) {
    ++traffic_.duplicated;
    agenda_->push(agenda_->now() + travel(event.peer, event.node, noise), again(event, event.bytes));
  }
  std::int64_t time = travel(event.peer, event.node, noise);
  if (chance(noise.reorder)) time += 4 * travel(event.peer, event.node, noise);
  agenda_->push(agenda_->now() + time, std::move(event));
}

void Network::send_frame(Event&& event, const Noise& noise) {
  if (options_.unruly_streams && (chance(noise.duplicate) || chance(noise.reorder))) {
    // A frame that took another connection: outside the order, and perhaps once more inside it.
    const bool twice = random_.below(2) == 0;
    Event stray = again(event, twice ? event.bytes : std::move(event.bytes));
    stray.life = 0;  // it finds its node wherever that is
    send_datagram(std::move(stray), Noise{.delay = noise.delay});
    if (!twice) return;
    ++traffic_.duplicated;
  }
  const std::uint32_t index = stream_between(event.peer, event.node);
  Stream& stream = streams_[index];
  Way& way = stream.ways[event.peer == stream.ends[0] ? 0 : 1];
  if (way.bytes + event.bytes.size() > kMaxStreamBuffer || !spoil(event, noise)) {
    ++traffic_.lost;
    break_stream(index, true, true);
    return;
  }
  std::int64_t time = travel(event.peer, event.node, noise);
  // What is lost is sent again after a while that doubles; the frames behind it wait.
  std::int64_t pause = kFastRetry.count();
  while (pause <= kLastRetry.count() && chance(noise.loss)) {
    time += pause;
    pause = std::max(kFirstRetry.count(), pause * 2);
  }
  way.last_arrival = std::max(agenda_->now() + time, way.last_arrival);
  way.bytes += event.bytes.size();
  event.stream = index;
  event.life = stream.life;
  agenda_->push(way.last_arrival, std::move(event));
}

// False if the packet ends at its envelope.
bool Network::spoil(Event& event, const Noise& noise) {
  if (!chance(noise.corrupt) || event.bytes.empty()) return true;
  ++traffic_.corrupted;
  if (!noise.raw) return false;
  event.authentic = false;
  const std::uint64_t flips = 1 + random_.below(4);
  for (std::uint64_t i = 0; i < flips; ++i) {
    char& byte = event.bytes[random_.below(event.bytes.size())];
    byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1u << random_.below(8)));
  }
  if (random_.below(8) == 0) event.bytes.resize(random_.below(event.bytes.size() + 1));
  return true;
}

void Network::replay(const Event& event, const Noise& noise) {
  if (noise.replay <= 0 || (event.channel == Channel::kStream && !options_.unruly_streams)) return;
  if (!memory_.empty() && chance(noise.replay)) {
    const Remembered& old = memory_[random_.below(memory_.size())];
    ++traffic_.replayed;
    forge(old.sender, old.from, old.to, old.channel, old.bytes, true, base::Duration(old.sent));
  }
  if (random_.below(4) != 0) return;
  Remembered fresh{.to = event.node,
                   .from = event.from,
                   .sender = event.sender,
                   .channel = event.channel,
                   .sent = event.sent,
                   .bytes = event.bytes};
  if (memory_.size() < kReplayMemory) {
    memory_.push_back(std::move(fresh));
  } else {
    memory_[memory_next_++ % kReplayMemory] = std::move(fresh);
  }
}

void Network::hold(Event& event, Stream& stream, Way& way) {
  const std::uint32_t direction = event.peer == stream.ends[0] ? 0 : 1;
  if (way.held.empty()) {
    way.held_till = agenda_->now() + patience();
    way.pause = kFirstRetry.count();
    try_again(event.stream, direction, way.pause);
  }
  way.held.push_back(agenda_->keep(std::move(event)));
}

std::uint32_t Network::stream_between(std::uint32_t from, std::uint32_t to) {
  const std::uint64_t pair = pair_of(from, to);
  const auto found = stream_of_.find(pair);
  if (found != stream_of_.end()) {
    const std::uint32_t index = found->second;
    const Stream& stream = streams_[index];
    const std::size_t end = stream.ends[0] == from ? 0 : 1;
    // A next life knows nothing of the old connection and opens its own.
    if (stream.lives[end] == nodes_[from].life) return index;
    break_stream(index, false, false);
  }
  std::uint32_t index;
  if (free_streams_.empty()) {
    index = static_cast<std::uint32_t>(streams_.size());
    streams_.emplace_back();
  } else {
    index = free_streams_.back();
    free_streams_.pop_back();
  }
  Stream& stream = streams_[index];
  stream.ends[0] = std::min(from, to);
  stream.ends[1] = std::max(from, to);
  for (const std::size_t end : {0u, 1u}) {
    stream.lives[end] = nodes_[stream.ends[end]].life;
    stream.addresses[end] = nodes_[stream.ends[end]].address;
  }
  stream.open = true;
  stream.severed = false;
  stream_of_.emplace(pair, index);
  return index;
}

void Network::break_stream(std::uint32_t index, bool tell_first, bool tell_second) {
  Stream& stream = streams_[index];
  if (!stream.open) return;
  ++traffic_.streams_broken;
  for (Way& way : stream.ways) {
    for (const std::uint32_t kept : way.held) agenda_->release(kept);
    way = {};
  }
  ++stream.life;
  stream.open = false;
  stream_of_.erase(pair_of(stream.ends[0], stream.ends[1]));
  free_streams_.push_back(index);
  if (tell_first) tell_closed(stream.ends[0], stream.lives[0], stream.addresses[1]);
  if (tell_second) tell_closed(stream.ends[1], stream.lives[1], stream.addresses[0]);
}

// Nobody listens there: the machine, or its neighbour, says so if it is there to say it and can be heard.
void Network::refuse(std::uint32_t from, Address to, std::uint32_t target) {
  const auto found = stream_of_.find(pair_of(from, target));
  if (found != stream_of_.end() && streams_[found->second].severed) return;
  if (connected(from, target) && connected(target, from)) tell_closed(from, nodes_[from].life, to);
}

void Network::tell_closed(std::uint32_t node, std::uint64_t life, Address peer) {
  if (!nodes_[node].up || nodes_[node].life != life) return;
  Event event;
  event.kind = EventKind::kClosed;
  event.node = node;
  event.life = life;
  event.from = peer;
  agenda_->push(agenda_->now() + travel(node, node, {}), std::move(event));
}

void Network::try_again(std::uint32_t stream, std::uint32_t direction, std::int64_t pause) {
  Event again;
  again.kind = EventKind::kRetry;
  again.stream = stream;
  again.peer = direction;
  again.life = streams_[stream].life;
  agenda_->push(agenda_->now() + pause, std::move(again));
}

void Network::await_patience(std::uint32_t stream) {
  try_again(stream, kPatienceOver, patience());
}

std::int64_t Network::patience() {
  const auto spread = static_cast<std::uint64_t>((kMostPatience - kLeastPatience).count());
  return kLeastPatience.count() + static_cast<std::int64_t>(random_.below(spread));
}

}  // namespace muster::sim
