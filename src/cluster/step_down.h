// When a leader of a log hands leadership over by itself: when it is not well, or drains. Where leaders change too
// often such transfers stop for a while, for each costs the group a moment without one; elections are never held up.
// Owned by the shell beside its log_seat.h. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

#include "base/time.h"
#include "cluster/ids.h"
#include "cluster/proposals.h"

namespace muster::cluster {

struct StepDownOptions {
  // Health score of membership (0 … 8) above which a leader is not well.
  std::uint32_t score = 4;
  // More changes of leader than this within the window stop transfers for the pause.
  std::size_t changes = 3;
  base::Duration window = std::chrono::seconds(60);
  base::Duration pause = std::chrono::seconds(30);
  // Between two tries: above the time that a transfer takes.
  base::Duration retry = std::chrono::seconds(1);
};

class StepDown {
 public:
  explicit StepDown(NodeId self, const StepDownOptions& options = {}) : self_(self), options_(options) {}

  // Whom leadership is to be handed to now; nothing if it stays. To be asked whenever something may have changed.
  std::optional<NodeId> step(const LogStanding& standing, std::uint32_t score, bool draining, base::Instant now);

 private:
  NodeId self_;
  StepDownOptions options_;
  NodeId leader_ = kNoNode;            // the last that was known
  std::deque<base::Instant> changes_;  // within the window
  base::Instant paused_until_{};
  base::Instant due_{};
  std::size_t next_ = 0;  // of the voters: another one at each try
};

}  // namespace muster::cluster
