// A node's seat at a replicated log, without IO: the Raft core, its journal, and the messages that wait for the disk.
// The same for gates and managers. Its owner opens it from the journal's bytes, hands in messages, wake-ups and what
// became of writes, and after every call carries out what take() gives: writes, then sends, then entries, each of which
// it applies to its brain and confirms by applied(). A failed write ends the seat. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "cluster/ids.h"
#include "cluster/proposals.h"
#include "cores/raft.h"
#include "cores/raft_journal.h"

namespace muster::cluster {

struct LogSeatOptions {
  cores::RaftOptions raft;
  // The first voters of the group; empty for a node that is to be added later. Counts only on an empty disk.
  std::vector<NodeId> founders;
  // Entries applied since the last snapshot after which the owner should make another. More: longer replay at a start;
  // fewer: more bytes written.
  std::uint64_t snapshot_after = 4096;
};

// To the journal's file: behind what is there, or in its place. In order; answered by persisted() or failed().
struct LogWrite {
  cores::RaftWrite what;
  bool anew = false;
  std::string bytes;
};

struct LogEffects {
  std::vector<LogWrite> writes;
  std::vector<cores::RaftSend> sends;      // may leave now
  std::vector<cores::RaftApply> applies;   // in order; entries of every kind
  std::vector<cores::RaftAnswer> answers;  // to change() and transfer() alone

  bool empty() const { return writes.empty() && sends.empty() && applies.empty() && answers.empty(); }
};

class LogSeat {
 public:
  // Fails on a journal that lost what was durable: the node must not start.
  static base::Expected<LogSeat> open(NodeId self, const LogSeatOptions& options, std::string_view journal,
                                      std::uint64_t seed, base::Instant now);

  // The journal must be cut to this, durably, before the first write.
  std::size_t valid_bytes() const { return valid_bytes_; }

  void receive(NodeId from, const cores::RaftMessage& message, base::Instant now) {
    raft_->receive(from, message, now);
  }
  void wake(base::Instant now) { raft_->wake(now); }
  // This write and all before it are durable: what waited for them may leave.
  void persisted(cores::RaftTicket ticket, base::Instant now);
  void failed(base::Instant now);

  // Not answered: whoever wants it sees it applied, or asks again.
  void propose(std::string entry, base::Instant now);
  cores::RaftRequest change(const cores::RaftChange& change, base::Instant now);
  cores::RaftRequest transfer(NodeId to, base::Instant now);

  // The brain has taken in everything up to this entry.
  void applied(cores::RaftIndex index) { applied_ = index; }
  bool wants_snapshot() const { return applied_ >= snapshot_ + options_.snapshot_after; }
  // `state` is the brain's after what it has applied.
  bool compact(std::string state);

  LogEffects take();
  bool quiet() const { return free_.empty() && raft_->quiet(); }  // take() would give nothing
  base::Instant deadline() const { return raft_->deadline(); }

  // What the brain may believe. It is not current while more than the entry in hand waits to be applied.
  // Valid until it is asked again.
  const LogStanding& standing(base::Instant now);
  cores::RaftIndex applied() const { return applied_; }
  const cores::Raft& raft() const { return *raft_; }

 private:
  LogSeat() = default;

  LogSeatOptions options_;
  std::unique_ptr<cores::Raft> raft_;
  cores::RaftJournal journal_;
  std::size_t valid_bytes_ = 0;
  std::vector<cores::RaftSend> gated_;  // wait for a write
  std::vector<cores::RaftSend> free_;
  std::vector<cores::RaftRequest> asked_;  // changes and transfers that are not answered
  cores::RaftTicket durable_ = 0;
  cores::RaftIndex given_ = 0;  // the last entry that take() gave out
  cores::RaftIndex applied_ = 0;
  cores::RaftIndex snapshot_ = 0;  // the last one
  LogStanding standing_;           // kept, for it is asked before every call of the brain
};

}  // namespace muster::cluster
