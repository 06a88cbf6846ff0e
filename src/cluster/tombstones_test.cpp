#include "cluster/tombstones.h"

#include <gtest/gtest.h>

namespace muster::cluster {
namespace {

TEST(Tombstones, KeepTheLatestAndFindThemByJob) {
  Tombstones tombstones;
  for (std::uint64_t i = 0; i < kMaxTombstones + 3; ++i)
    tombstones.push_back({JobId{i}, ClientId{i}, JobState::kFailed});
  EXPECT_EQ(tombstones.size(), kMaxTombstones);
  EXPECT_EQ(tombstones.find(JobId{2}), nullptr);
  for (std::uint64_t i = 3; i < kMaxTombstones + 3; ++i) {
    ASSERT_NE(tombstones.find(JobId{i}), nullptr);
    EXPECT_EQ(tombstones.find(JobId{i})->client, ClientId{i});
  }
}

TEST(Tombstones, AJobThatEndedTwiceStaysAsLongAsItsLaterEnd) {
  Tombstones tombstones;
  tombstones.push_back({JobId{1}, ClientId{1}, JobState::kCancelled});
  tombstones.push_back({JobId{1}, ClientId{1}, JobState::kFailed});
  for (std::uint64_t i = 0; i < kMaxTombstones - 1; ++i) tombstones.push_back({JobId{100 + i}, {}, JobState::kFailed});
  ASSERT_NE(tombstones.find(JobId{1}), nullptr);
  EXPECT_EQ(tombstones.find(JobId{1})->state, JobState::kFailed);
  tombstones.push_back({JobId{9}, {}, JobState::kFailed});
  EXPECT_EQ(tombstones.find(JobId{1}), nullptr);
}

}  // namespace
}  // namespace muster::cluster
