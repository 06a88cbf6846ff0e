// What members of a group say to each other, as plain values. Who sent a packet is known from its envelope and is not
// said again. Texts and states in decoded messages are views into the bytes they were read from.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "base/node_id.h"
#include "cores/endpoint.h"

namespace muster::cores {

enum class SwimChannel : std::uint8_t {
  kDatagram,  // may be lost, doubled, late and out of order
  kStream,    // whole frames in order, or not at all
};

enum class MemberStatus : std::uint8_t { kAlive, kSuspect, kDead, kLeft };

// A node's description of itself: opaque bytes (model::NodeState in muster) and a count that rises with each change
// within one incarnation, so that a late packet never brings an old state back.
struct StateClaim {
  std::uint64_t incarnation = 0;
  std::uint64_t version = 0;
  std::string_view bytes;
};

// Something about one member, spread by gossip and by exchanges of views.
struct Claim {
  MemberStatus status = MemberStatus::kAlive;
  base::NodeId node = base::kNoNode;
  std::uint64_t incarnation = 0;
  base::NodeId by = base::kNoNode;  // who accuses; kNoNode unless suspect or dead in gossip
  Endpoint address;                 // alive in gossip; always in views
  StateClaim state;                 // as above
};

struct Ping {
  std::uint64_t sequence = 0;
  base::NodeId target = base::kNoNode;  // another node at that address stays silent
};

struct Ack {
  std::uint64_t sequence = 0;
  base::NodeId node = base::kNoNode;  // who answered, also when relayed
  StateClaim state;
};

// Please probe somebody for me: answered by that node's ack, or by a nack if it stays silent.
struct PingRequest {
  std::uint64_t sequence = 0;
  base::NodeId target = base::kNoNode;
  Endpoint address;
};

struct Nack {
  std::uint64_t sequence = 0;
};

// Gossip alone.
struct Rumours {};

// A frame of a full view. The last frame of a request is answered with the receiver's view.
struct Exchange {
  bool reply = false;
  bool last = false;
  std::vector<Claim> view;
};

using SwimBody = std::variant<Ping, Ack, PingRequest, Nack, Rumours, Exchange>;

struct SwimMessage {
  SwimBody body;
  std::vector<Claim> claims;  // gossip, most important first; none beside an Exchange
};

}  // namespace muster::cores
