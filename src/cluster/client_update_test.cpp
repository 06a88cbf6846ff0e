#include "cluster/client_update.h"

#include <gtest/gtest.h>

#include "cluster/gate_options.h"

namespace muster::cluster {
namespace {

TEST(ClientUpdate, IsEmptyUntilSomethingIsToTell) {
  ClientUpdate update;
  EXPECT_TRUE(update.empty());
  update.datacenters.emplace();
  EXPECT_FALSE(update.empty());
}

TEST(ClientUpdate, TooManyWindowsBecomeWiderAndLoseNothing) {
  ClientUpdate update;
  constexpr std::uint64_t kMany = 3 * kMaxWaitingWindows;
  for (std::uint64_t i = 0; i < kMany; ++i) {
    WindowRow row;
    row.window = i;
    row.counts = {2, 1, 1};
    row.latency.record(std::chrono::milliseconds(5), 2);
    update.add(JobId{1}, "east", row);
  }
  const auto& windows = update.progress.at(JobId{1}).windows;
  EXPECT_LE(windows.size(), kMaxWaitingWindows);
  Counts sum;
  std::uint64_t samples = 0;
  for (const auto& [key, row] : windows) {
    sum.add(row.counts);
    samples += row.latency.count();
  }
  EXPECT_EQ(sum, (Counts{2 * kMany, kMany, kMany}));
  EXPECT_EQ(samples, 2 * kMany);
}

}  // namespace
}  // namespace muster::cluster
