// What the membership core gives back to its owner: packets to send, events to act on, and counts for metrics.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/node_id.h"
#include "base/time.h"
#include "cores/endpoint.h"
#include "cores/swim_messages.h"

namespace muster::cores {

struct SwimSend {
  Endpoint to;
  SwimChannel channel = SwimChannel::kDatagram;
  std::string bytes;
};

enum class SwimEventKind : std::uint8_t {
  kJoined,  // unknown, dead or departed before; alive now
  kMoved,   // a higher incarnation at another address: a new life
  kSuspected,
  kCleared,  // suspect before, alive again
  kDead,
  kLeft,          // said so itself; about this node: the others have been told, it may go
  kRemoved,       // dead or departed for long, and forgotten
  kStateChanged,  // its description of itself changed
  kRefuted,       // this node was accused and answered
  kConflict,      // another node seems to use the same name at the same incarnation
  kOverflow,      // the gossip queue was full; `count` updates were dropped so far
};

struct SwimEvent {
  SwimEventKind kind = SwimEventKind::kJoined;
  base::NodeId node = base::kNoNode;
  std::uint64_t incarnation = 0;
  base::NodeId by = base::kNoNode;  // who accused, where that is known
  std::uint64_t count = 0;
};

struct SwimEffects {
  std::vector<SwimSend> sends;    // in this order
  std::vector<SwimEvent> events;  // in this order
};

struct AuditEntry {
  base::Instant at{};
  SwimEvent event;
};

// Since the core was made.
struct SwimCounters {
  std::uint64_t datagrams = 0, datagram_bytes = 0, gossip_datagrams = 0, frames = 0, frame_bytes = 0;
  std::uint64_t probes = 0, probes_acked = 0, probes_failed = 0, probes_skipped = 0, rechecks = 0;
  std::uint64_t indirect_requests = 0, relayed_acks = 0, nacks_sent = 0, nacks_received = 0, nacks_missing = 0;
  std::uint64_t indirect_rescues = 0, stream_rescues = 0;
  std::uint64_t suspicions = 0, confirmations = 0, refutations = 0, buddies = 0, deaths = 0;
  std::uint64_t exchanges = 0, exchange_replies = 0, dead_by_exchange = 0;
  std::uint64_t score_raised = 0, stalls = 0;
  std::uint64_t overflowed = 0, malformed = 0, other_group = 0, refused_members = 0, conflicts = 0,
                dropped_requests = 0;
};

}  // namespace muster::cores
