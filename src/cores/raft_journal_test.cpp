#include "cores/raft_journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cores/raft_solo.h"

namespace muster::cores {
namespace {

// Writes as a node makes them, each durable before the next unless told otherwise.
class Disk {
 public:
  explicit Disk(std::uint64_t next = 1) : journal_(next) {}

  void write(decltype(RaftWrite::body) body, bool durable = true) {
    starts.push_back(bytes.size());
    bytes += journal_.record({++ticket_, std::move(body)});
    if (durable) journal_.persisted(ticket_);
  }

  std::string bytes;
  std::vector<std::size_t> starts;

 private:
  RaftJournal journal_;
  RaftTicket ticket_ = 0;
};

RaftCheckpoint founding() {
  return {founding_image({node(1), node(2), node(3)})};
}

Disk four_records() {
  Disk disk;
  disk.write(founding());
  disk.write(RaftHardState{2, node(3)});
  disk.write(RaftAppendWrite{{command_at(1, 1, "a"), command_at(2, 2, "b"), command_at(3, 2, "c")}});
  disk.write(RaftTruncate{3});
  return disk;
}

TEST(RaftJournal, AnEmptyDiskIsAnEmptyImage) {
  const auto recovered = recover_raft_journal("");
  ASSERT_TRUE(recovered);
  EXPECT_EQ(recovered->image, RaftImage{});
  EXPECT_EQ(recovered->next, 1u);
  EXPECT_EQ(recovered->valid_bytes, 0u);
}

TEST(RaftJournal, GivesBackWhatTheWritesAddUpTo) {
  const Disk disk = four_records();
  const auto recovered = recover_raft_journal(disk.bytes);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_EQ(recovered->image.hard, (RaftHardState{2, node(3)}));
  EXPECT_EQ(recovered->image.snapshot.members.voters.size(), 3u);
  EXPECT_THAT(recovered->image.entries, testing::ElementsAre(command_at(1, 1, "a"), command_at(2, 2, "b")));
  EXPECT_EQ(recovered->next, 5u);
  EXPECT_EQ(recovered->valid_bytes, disk.bytes.size());
}

TEST(RaftJournal, ACheckpointStandsForEverythingBeforeIt) {
  Disk disk = four_records();
  RaftCheckpoint checkpoint = founding();
  checkpoint.image.hard = {2, node(3)};
  checkpoint.image.snapshot.index = 2;
  checkpoint.image.snapshot.term = 2;
  checkpoint.image.snapshot.state = std::make_shared<const std::string>("state");
  checkpoint.image.entries = {command_at(3, 2, "d")};
  disk.write(checkpoint);
  EXPECT_EQ(recover_raft_journal(disk.bytes)->image, checkpoint.image);
  const auto alone = recover_raft_journal(std::string_view(disk.bytes).substr(disk.starts.back()));
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->image, checkpoint.image);
  EXPECT_EQ(alone->next, 6u);
}

TEST(RaftJournal, DropsATornTailWhereverItIsTorn) {
  const Disk disk = four_records();
  const std::size_t last = disk.starts.back();
  for (std::size_t size = last; size < disk.bytes.size(); ++size) {
    const auto recovered = recover_raft_journal(std::string_view(disk.bytes).substr(0, size));
    ASSERT_TRUE(recovered) << recovered.error().message;
    EXPECT_EQ(recovered->valid_bytes, last);
    EXPECT_EQ(recovered->image.entries.size(), 3u);
    EXPECT_EQ(recovered->next, 4u);
  }
}

TEST(RaftJournal, DropsATailOfZeros) {
  const Disk disk = four_records();
  const auto recovered = recover_raft_journal(disk.bytes + std::string(100, '\0'));
  ASSERT_TRUE(recovered);
  EXPECT_EQ(recovered->valid_bytes, disk.bytes.size());
}

TEST(RaftJournal, RefusesDamageToWhatWasDurable) {
  const Disk disk = four_records();
  for (std::size_t at = 0; at < disk.starts.back(); ++at) {
    std::string bytes = disk.bytes;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    const auto recovered = recover_raft_journal(bytes);
    ASSERT_FALSE(recovered) << "byte " << at;
  }
}

TEST(RaftJournal, DropsWhatWasNeverDurableThoughALaterPartReachedTheDisk) {
  Disk disk;
  disk.write(founding());
  disk.write(RaftHardState{2, node(3)}, false);
  disk.write(RaftAppendWrite{{command_at(1, 2)}}, false);
  std::string bytes = disk.bytes;
  for (std::size_t at = disk.starts[1]; at < disk.starts[2]; ++at) bytes[at] = 0;
  const auto recovered = recover_raft_journal(bytes);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_EQ(recovered->valid_bytes, disk.starts[1]);
  EXPECT_EQ(recovered->image.hard, RaftHardState{});
}

TEST(RaftJournal, GoesOnInTheNextLife) {
  Disk first = four_records();
  Disk second(5);
  second.write(RaftHardState{3, base::kNoNode});
  const auto recovered = recover_raft_journal(first.bytes + second.bytes);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_EQ(recovered->image.hard.term, 3u);
  EXPECT_EQ(recovered->next, 6u);
}

TEST(RaftJournal, RefusesAMissingOrDoubledRecord) {
  const Disk disk = four_records();
  const std::string_view bytes = disk.bytes;
  const std::string missing = std::string(bytes.substr(0, disk.starts[1])) + std::string(bytes.substr(disk.starts[2]));
  EXPECT_FALSE(recover_raft_journal(missing));
  const std::string doubled = std::string(bytes.substr(0, disk.starts[2])) + std::string(bytes.substr(disk.starts[1]));
  EXPECT_FALSE(recover_raft_journal(doubled));
}

TEST(RaftJournal, RefusesWritesThatContradictOneAnother) {
  Disk gap;
  gap.write(founding());
  gap.write(RaftAppendWrite{{command_at(2, 1)}});
  EXPECT_FALSE(recover_raft_journal(gap.bytes));
  Disk nothing;
  nothing.write(founding());
  nothing.write(RaftTruncate{1});
  EXPECT_FALSE(recover_raft_journal(nothing.bytes));
  Disk vote;
  vote.write(RaftHardState{2, node(1)});
  vote.write(RaftHardState{2, node(2)});
  EXPECT_FALSE(recover_raft_journal(vote.bytes));
  Disk term;
  term.write(RaftHardState{2, node(1)});
  term.write(RaftHardState{1, base::kNoNode});
  EXPECT_FALSE(recover_raft_journal(term.bytes));
}

TEST(RaftJournal, TellsWhereTheDamageIs) {
  Disk disk = four_records();
  disk.bytes[disk.starts[1] + 49] = '\x7f';
  const auto recovered = recover_raft_journal(disk.bytes);
  ASSERT_FALSE(recovered);
  EXPECT_THAT(recovered.error().message, testing::HasSubstr(std::to_string(disk.starts[1])));
}

}  // namespace
}  // namespace muster::cores
