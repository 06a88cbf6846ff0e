// What the membership core can be told, with three presets, and the limits of what it takes from outside. Times are
// those of a healthy node; a degraded one stretches its own (swim_health.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace muster::cores {

// The parts of Lifeguard (Dadgar, Phillips, Currey 2018), each of which can be left out to measure what it gives.
struct LifeguardParts {
  // Local health awareness: probe interval and time-out grow with the own health score, and degraded nodes skip probes.
  bool health_aware_probe = true;
  // Suspicions begin at the longest time-out and shrink as others confirm them. Off: the shortest time-out at once.
  bool dynamic_suspicion = true;
  // Packets to a suspect tell it first that it is suspected.
  bool buddy = true;
  // Ours, not the paper's: time in which this node itself did not run counts neither against a probe under way nor
  // against a suspicion, and raises the own score.
  bool stall_guard = true;
};

struct SwimOptions {
  // Clusters that must not mix have different numbers; packets of another group are dropped.
  std::uint64_t group = 0;

  // One member is probed per interval. Shorter finds crashes sooner, at that much more traffic.
  base::Duration probe_interval = std::chrono::seconds(1);
  // Time for a direct answer before others are asked; the rest of the interval is theirs. Above the round trip's p99.
  base::Duration probe_timeout = std::chrono::milliseconds(500);
  // How many others are asked to probe a silent member. More forgives more loss, at two packets each.
  std::uint32_t indirect_probes = 3;
  // Whether a silent member is also pinged over a stream, which rescues nodes whose datagrams are filtered.
  bool stream_probe = true;

  // Shortest suspicion = multiplier · max(1, log10 n) · probe interval; the longest is max_multiplier times that.
  // Larger wrongs fewer slow members and finds crashes later.
  std::uint32_t suspicion_multiplier = 4;
  std::uint32_t suspicion_max_multiplier = 6;
  // About how many of the members that hear of a suspicion probe the suspect themselves at their next turn. More
  // confirms or refutes sooner; all of a large group at once would bury the suspect.
  std::uint32_t suspect_probers = 8;

  base::Duration gossip_interval = std::chrono::milliseconds(200);
  std::uint32_t gossip_fanout = 3;
  // An update is sent multiplier · ceil(log10(n + 1)) times by each node that learned it.
  std::uint32_t retransmit_multiplier = 4;
  // Updates that wait to be sent, about 200 bytes each. Beyond it the least important is dropped, which is reported;
  // the next exchange of full views makes up for it.
  std::uint32_t max_queued_updates = 2048;

  // Full views are exchanged over a stream this often; the period grows with log2 n above 32 members.
  base::Duration push_pull_interval = std::chrono::seconds(30);
  // How long the dead still get gossip, so that the wrongly accused can refute.
  base::Duration gossip_to_dead = std::chrono::seconds(30);
  // Dead and departed members are forgotten after this; the name is then free of its past.
  base::Duration reap_after = std::chrono::minutes(15);

  // Requests for full views are answered together after this; many joining at once then learn of one another.
  base::Duration exchange_batch = std::chrono::milliseconds(50);

  // Probe interval and time-out are stretched by 1 + stretch_per_point · score. 1 is Lifeguard's.
  double stretch_per_point = 1;
  LifeguardParts lifeguard;

  // Latest membership events kept for whoever asks what happened, about 64 bytes each.
  std::uint32_t audit_entries = 1024;
};

constexpr SwimOptions swim_lan() {
  return {};
}

constexpr SwimOptions swim_wan() {
  SwimOptions options;
  options.probe_interval = std::chrono::seconds(5);
  options.probe_timeout = std::chrono::seconds(3);
  options.suspicion_multiplier = 6;
  options.gossip_interval = std::chrono::milliseconds(500);
  options.gossip_fanout = 4;
  options.push_pull_interval = std::chrono::seconds(60);
  options.gossip_to_dead = std::chrono::seconds(60);
  return options;
}

constexpr SwimOptions swim_local() {
  SwimOptions options;
  options.probe_timeout = std::chrono::milliseconds(200);
  options.suspicion_multiplier = 3;
  options.gossip_interval = std::chrono::milliseconds(100);
  options.retransmit_multiplier = 2;
  options.indirect_probes = 1;
  options.push_pull_interval = std::chrono::seconds(15);
  options.gossip_to_dead = std::chrono::seconds(15);
  return options;
}

// Bytes of a datagram on the wire, envelope included: what any path carries in one piece.
constexpr std::size_t kMaxSwimDatagram = 1400;
// Of these, kept free for the envelope: salt, nonce, tag, message id, and the sender's name, role, clock and version.
constexpr std::size_t kEnvelopeAllowance = 128;
constexpr std::size_t kMaxSwimPayload = kMaxSwimDatagram - kEnvelopeAllowance;

// Bytes of one frame of an exchange of full views; larger views travel in several frames, each of which is merged as it
// comes. Larger frames would only make others wait longer.
constexpr std::size_t kMaxExchangeBytes = 64 * 1024;

// Bytes of a node's own description in acks and views. It leaves room for gossip beside it in a datagram.
constexpr std::size_t kMaxMemberState = 384;

// Members of one group, dead ones included: about 100 bytes each. A peer that invents nodes fills this and no more.
constexpr std::size_t kMaxMembers = 65'536;

// Highest incarnation. Accusations stay below it, so that whoever is accused can always answer with a higher one; a
// node that was driven to the end cannot be accused by gossip any more, only by each member's own probes.
constexpr std::uint64_t kMaxIncarnation = std::uint64_t{1} << 62;

// Probes under way for others, about 60 bytes each; beyond it the oldest are given up.
constexpr std::size_t kMaxRelays = 1024;
// Requests for full views waiting for their batch; beyond it they are dropped and asked again.
constexpr std::size_t kMaxWaitingExchanges = 256;
// Addresses remembered for joining and for finding back after a long separation.
constexpr std::size_t kMaxSeeds = 16;
// Suspects waiting to be probed out of turn.
constexpr std::size_t kMaxRechecks = 64;
// What one exchange of views may put into gossip; more than that reaches the others by exchanges as well.
constexpr std::size_t kMaxRumoursPerExchange = 32;

}  // namespace muster::cores
