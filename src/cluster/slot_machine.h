// One slot of a job at the gate that owns it: finds a datacenter that takes the job, keeps in touch with it, tells it
// of a cancellation, and notices when it has lost the job. It holds only what can be found out again: the ledger says
// what was decided, so a machine that begins after a take-over does the same from there. Owned by a GateJob, which
// steps it under a valid lease only.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/time.h"
#include "cluster/gate_desk.h"
#include "cluster/messages.h"

namespace muster::cluster {

class SlotMachine {
 public:
  SlotMachine(JobId job, std::uint32_t slot, std::uint64_t epoch, base::Instant now);

  // Does what is due and says when to look again.
  base::Instant step(GateDesk& desk, const GateLedgerJob& job);

  // From a manager of the slot's datacenter. A status that shows the end, with what came of the workflows, is for the
  // slot's results; true then.
  void receive(GateDesk& desk, NodeId from, const SubmitAnswer& message);
  bool receive(GateDesk& desk, NodeId from, const StatusAnswer& message);
  void receive(GateDesk& desk, const CancelAnswer& message);
  // It told something that only one who runs the job can tell; `epoch` is its manager's. False if it was superseded.
  bool heard(std::uint64_t epoch, base::Instant now);
  // The lease is over by the clock: lost, if really nothing was heard.
  void unheard() { unheard_ = true; }

  // Whether the datacenter was heard of since the last call: its lease may be renewed.
  bool take_heard() { return std::exchange(news_, false); }

  std::uint32_t stopped() const { return stopped_; }          // parts, as a cancellation was confirmed
  std::uint32_t unconfirmed() const { return unconfirmed_; }  // parts, likewise

 private:
  SlotFence fence() const { return {job_, epoch_, slot_, offer_}; }
  void begin(const GateSlot& slot, base::Instant now);
  std::optional<std::string> next_datacenter(GateDesk& desk, const GateLedgerJob& job) const;
  base::Instant open(GateDesk& desk, const GateLedgerJob& job);
  base::Instant offered(GateDesk& desk, const GateLedgerJob& job);
  base::Instant withdraw(GateDesk& desk, const GateLedgerJob& job);
  base::Instant accepted(GateDesk& desk, const GateLedgerJob& job);
  bool fall_back(GateDesk& desk, const GateLedgerJob& job);
  void ask(GateDesk& desk);
  void cancel(GateDesk& desk, const GateLedgerJob& job);
  NodeId whom(GateDesk& desk, const std::string& datacenter);
  base::Duration wait(const GateOptions& options) const;
  void unknown(base::Instant now);
  void refused_by_manager(GateDesk& desk);
  void refused(GateDesk& desk, base::Duration retry_after);
  // Whether no copy of the offer can still be accepted.
  bool certain() const { return !murky_ && waiting_.empty(); }

  JobId job_;
  std::uint32_t slot_;
  std::uint64_t epoch_;
  bool first_ = true;  // not stepped yet

  // Of the present phase and offer.
  std::uint32_t offer_ = 0;
  SlotPhase phase_ = SlotPhase::kOpen;
  std::string datacenter_;
  base::Instant since_;
  base::Instant next_;          // when to send again
  std::uint32_t attempts_ = 0;  // sent since the last answer
  NodeId redirect_ = kNoNode;   // whom a manager named
  std::set<NodeId> waiting_;    // were offered the job and have not answered
  bool murky_ = false;          // one of them was offered it twice, or does not know itself
  std::uint32_t said_no_ = 0;   // managers that cannot take it, though the datacenter might
  bool refused_ = false;        // the datacenter said no
  bool accepted_ = false;       // it said yes
  std::string never_;           // why it will never be accepted anywhere
  std::uint64_t manager_epoch_ = 0;
  base::Instant heard_at_;
  bool news_ = false;
  bool unheard_ = false;
  std::uint32_t unknown_ = 0;  // answers that it does not know the job, since it was last heard of
  base::Instant unknown_since_{};
  std::string forgotten_;  // the datacenter has lost the job: why
  base::Instant cancel_since_ = base::kNever;
  bool cancel_done_ = false;

  // Over several offers.
  base::Instant began_;                      // looking for a datacenter
  base::Instant none_since_ = base::kNever;  // no datacenter is left to offer it to
  std::set<std::string> tried_;              // said no in this round
  base::Instant round_until_{};              // when the next one begins
  std::uint32_t stopped_ = 0;
  std::uint32_t unconfirmed_ = 0;
};

}  // namespace muster::cluster
