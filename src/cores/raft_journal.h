// How a Raft node's writes lie on disk: records one behind the other in a file that only grows, each with its length,
// its number and checksums. A checkpoint may begin a new file, which takes the old one's place once it is durable.
// Pure: gives bytes and takes bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cores/raft_effects.h"

namespace muster::cores {

class RaftJournal {
 public:
  // `next` numbers the first record: RecoveredJournal::next, or 1 for an empty disk.
  explicit RaftJournal(std::uint64_t next = 1) : first_(next), durable_(next - 1) {}

  // The bytes to put behind those of the write before it. Tickets rise by one from 1.
  std::string record(const RaftWrite& write) const;

  // Records tell which ones before them are known to be durable: that is how a record that was damaged is told from one
  // that was never finished.
  void persisted(RaftTicket ticket) { durable_ = first_ + ticket - 1; }

 private:
  std::uint64_t first_;
  std::uint64_t durable_;
};

// A record around a payload; `durable` is the number of the last record known to be durable.
std::string raft_journal_record(std::uint64_t number, std::uint64_t durable, std::string_view payload);

struct RecoveredJournal {
  RaftImage image;
  std::uint64_t next = 1;       // number of the next record
  std::size_t valid_bytes = 0;  // the file must be cut to this, durably, before more is written
};

// What the writes in `bytes` add up to. Unfinished records at the end are dropped: nothing was said on the strength of
// them. Damage to what was durable is an error, and the node must not start: it would forget votes and entries.
base::Expected<RecoveredJournal> recover_raft_journal(std::string_view bytes);

}  // namespace muster::cores
