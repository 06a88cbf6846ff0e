// Probes that this node makes for others: who asked for which, what became of it, and when the asker is to be told that
// there was no answer. At most kMaxRelays of them; the oldest make room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/node_id.h"
#include "base/time.h"
#include "cores/endpoint.h"

namespace muster::cores {

struct Relay {
  std::uint64_t sequence;  // of this node's ping
  std::uint64_t asked_as;  // of the asker's
  Endpoint asked_by;
  base::NodeId asker;
  base::NodeId target;
  base::Instant nack_at;
  bool answered = false;
};

class Relays {
 public:
  // Sequences and times of nacks rise from one to the next. False if the oldest was given up for it.
  bool add(const Relay& relay);

  // Whose question an ack answers; each is answered once, also after its nack.
  std::optional<Relay> answer(std::uint64_t sequence, base::NodeId node);

  // Those without an answer whose nack is due, each once. What is past its nack for `keep` is forgotten.
  std::vector<Relay> due(base::Instant now, base::Duration keep);
  base::Instant next_due() const;  // kNever if none is

 private:
  std::deque<Relay> relays_;
  std::size_t past_ = 0;  // how many of them, from the front, are past their nack
};

}  // namespace muster::cores
