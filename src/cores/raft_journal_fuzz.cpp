// The first byte says what the rest is. Odd: the bytes of a journal, as found on a disk. Even: payloads, each behind a
// byte with its length, that are put into sound records; the second byte then says where the result is damaged. What is
// recovered must be whole, must come back from a checkpoint of itself, and damage to a durable record must be refused.
// covers: cores/raft_journal.cpp cores/raft_wire.cpp
#include <string>
#include <string_view>
#include <vector>

#include "base/fuzzing.h"
#include "cores/raft_journal.h"

namespace muster::cores {
namespace {

using base::require;

void require_whole(const RecoveredJournal& recovered, std::size_t size) {
  const RaftImage& image = recovered.image;
  require(recovered.valid_bytes <= size);
  require(well_formed(image.snapshot.members));
  require(consecutive(image.snapshot.index, 0, image.entries));
  const std::string checkpoint = RaftJournal(7).record({1, RaftCheckpoint{image}});
  const auto again = recover_raft_journal(checkpoint);
  require(again && again->image == image && again->next == 8 && again->valid_bytes == checkpoint.size());
}

struct Records {
  std::string bytes;
  std::size_t last = 0;  // where the last one begins
};

Records records_of(std::string_view input) {
  Records records;
  for (std::uint64_t number = 1; !input.empty(); ++number) {
    const std::string_view payload = input.substr(1, static_cast<std::uint8_t>(input.front()));
    records.last = records.bytes.size();
    records.bytes += raft_journal_record(number, number - 1, payload);
    input.remove_prefix(1 + payload.size());
  }
  return records;
}

void try_records(std::uint8_t place, std::string_view input) {
  Records records = records_of(input);
  const auto recovered = recover_raft_journal(records.bytes);
  if (!recovered) {
    require(!recovered.error().message.empty());
    return;
  }
  require(recovered->valid_bytes == records.bytes.size());
  require_whole(*recovered, records.bytes.size());
  if (records.last == 0) return;
  const std::size_t damaged = std::size_t{place} * 7919 % records.last;
  records.bytes[damaged] = static_cast<char>(records.bytes[damaged] ^ (1 << (place % 8)));
  require(!recover_raft_journal(records.bytes));
  records.bytes[damaged] = static_cast<char>(records.bytes[damaged] ^ (1 << (place % 8)));
  // A last record that is not all there never counted.
  records.bytes.pop_back();
  const auto torn = recover_raft_journal(records.bytes);
  require(torn && torn->valid_bytes == records.last);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view input = base::text_of(data, size);
  if (data[0] % 2 == 0) {
    try_records(data[1], input.substr(2));
    return 0;
  }
  const std::string_view bytes = input.substr(1);
  const auto recovered = recover_raft_journal(bytes);
  if (recovered) {
    require_whole(*recovered, bytes.size());
  } else {
    require(!recovered.error().message.empty());
  }
  return 0;
}

}  // namespace muster::cores
