#include "engine/snapshot_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>

namespace muster::engine {
namespace {

TEST(SnapshotMemory, GivesTheLatestTotalsAndEverySeriesRecordOnce) {
  SnapshotMemory memory;
  ASSERT_TRUE(memory.open());
  EXPECT_EQ(memory.sequence(), 0U);
  EXPECT_EQ(memory.totals(), "");
  EXPECT_TRUE(memory.publish_totals("first"));
  EXPECT_TRUE(memory.publish_totals("second, and longer"));
  EXPECT_EQ(memory.totals(), "second, and longer");
  EXPECT_TRUE(memory.publish_totals(""));
  EXPECT_EQ(memory.totals(), "");
  EXPECT_EQ(memory.sequence(), 3U);

  std::string record;
  EXPECT_FALSE(memory.next_series(record));
  EXPECT_TRUE(memory.append_series("a"));
  EXPECT_TRUE(memory.append_series(""));
  EXPECT_TRUE(memory.append_series("ccc"));
  for (const char* expected : {"a", "", "ccc"}) {
    ASSERT_TRUE(memory.next_series(record));
    EXPECT_EQ(record, expected);
  }
  EXPECT_FALSE(memory.next_series(record));
}

TEST(SnapshotMemory, SaysThatItIsFinishedAndWhy) {
  SnapshotMemory memory;
  ASSERT_TRUE(memory.open());
  EXPECT_FALSE(memory.finished());
  memory.finish(std::string(100'000, 'x'));
  EXPECT_TRUE(memory.finished());
  EXPECT_FALSE(memory.error().empty());
  EXPECT_LT(memory.error().size(), 4096U);
}

// Snapshots of one repeated letter, each of another length: a copy that mixes two of them has two letters or a wrong
// length.
bool whole(const std::string& totals) {
  return totals.size() >= 2 &&
         std::all_of(totals.begin(), totals.end(), [&](char letter) { return letter == totals.front(); }) &&
         totals.size() == 1000 + static_cast<std::size_t>(totals.front() - 'a') * 777;
}

void publish_all(SnapshotMemory& memory, int count) {
  for (int i = 0; i < count; ++i) {
    const int letter = i % 26;
    memory.publish_totals(std::string(1000 + static_cast<std::size_t>(letter) * 777, static_cast<char>('a' + letter)));
  }
}

TEST(SnapshotMemory, AReaderNeverSeesATornSnapshot) {
  SnapshotMemory memory;
  ASSERT_TRUE(memory.open());
  std::atomic<bool> over{false};
  std::thread writer([&] {
    publish_all(memory, 20'000);
    over = true;
  });
  std::uint64_t read = 0;
  std::uint64_t torn = 0;
  while (!over) {
    const std::string totals = memory.totals();
    if (totals.empty()) continue;
    ++read;
    torn += whole(totals) ? 0U : 1U;
  }
  writer.join();
  EXPECT_GT(read, 0U);
  EXPECT_EQ(torn, 0U);
}

TEST(SnapshotMemory, AWriterKilledAtAnyMomentLeavesAWholeSnapshot) {
  for (int round = 0; round < 20; ++round) {
    SnapshotMemory memory;
    ASSERT_TRUE(memory.open());
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (;;) publish_all(memory, 1000);
    }
    while (memory.sequence() < static_cast<std::uint64_t>(10 + round * 13)) {
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_TRUE(whole(memory.totals()));
    EXPECT_FALSE(memory.finished());
  }
}

}  // namespace
}  // namespace muster::engine
