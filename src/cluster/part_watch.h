// How the leader of a job watches one attempt of a part: offers it, sees it accepted and alive, stops it where it must,
// and says when it is lost. Derived from the ledger: a new fence begins a new watch, so a leader that takes over offers
// every assigned part again, and its worker answers like the first time. Owned by a WorkflowMachine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/time.h"
#include "cluster/desk.h"
#include "cluster/ids.h"
#include "cluster/ledger.h"
#include "cluster/messages.h"
#include "resilience/extensions.h"

namespace muster::cluster {

class PartWatch {
 public:
  // What the job wants of the part at this moment.
  struct Orders {
    std::uint64_t epoch = 0;          // the leader's own
    bool cancel = false;              // the job ends: stop it
    base::Duration run_limit{};       // 0: none
    const Dispatch* offer = nullptr;  // what to send; null while its context is being read
  };

  // Does what is due for an assigned part and says when to look again.
  base::Instant step(Desk& desk, const PartId& id, const LedgerPart& part, const Orders& orders);

  void answered(Desk& desk, const LedgerPart& part, const DispatchAnswer& answer);
  void stopped(Desk& desk, const LedgerPart& part, const PartStopped& message);
  // Signs of life: `beat` rises while there are any. `finished`: its worker keeps a result.
  void seen(Desk& desk, const Fence& fence, std::uint64_t beat, base::Duration elapsed, bool finished);
  // Its worker does not report it any more.
  void missing(Desk& desk, const Fence& fence);
  ExtensionAnswer extend(Desk& desk, const LedgerPart& part, const ExtensionAsk& ask);

  bool accepted() const { return state_ == State::kRunning || state_ == State::kStopping; }
  const Fence& fence() const { return fence_; }
  std::uint64_t accepted_version() const { return version_; }
  bool running() const { return state_ == State::kRunning; }

 private:
  enum class State : std::uint8_t { kToOffer, kOffered, kRunning, kStopping, kLost };

  // When it counts as stuck unless a beat comes: time without a quorum does not count.
  base::Instant silent_at(const Desk& desk) const;
  void begin(const Fence& fence);
  void stop(Desk& desk, StopReason reason, Loss loss);
  void mark_finished(Desk& desk) { finished_at_ = std::min(finished_at_, desk.now); }
  base::Instant watch_running(Desk& desk, const PartId& id, const Orders& orders);
  base::Instant keep_sending(Desk& desk, const PartId& id, const LedgerPart& part, const Orders& orders);
  void propose_loss(Desk& desk, const PartId& id, std::uint64_t epoch, Loss loss);

  State state_ = State::kToOffer;
  Fence fence_;
  StopReason stop_reason_ = StopReason::kCancelled;
  Loss loss_ = Loss::kNotRunning;             // once stopped, or lost
  base::Instant finished_at_ = base::kNever;  // since when its worker says that a result follows
  std::uint32_t sent_ = 0;
  base::Instant due_{};
  std::uint64_t version_ = 0;  // of the worker's last heartbeat before it accepted
  base::Instant began_{};      // when it began to run, at the latest
  std::uint64_t beat_ = 0;
  base::Instant beat_at_{};
  resilience::Extensions extensions_;
};

}  // namespace muster::cluster
