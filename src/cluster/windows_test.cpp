#include "cluster/windows.h"

#include <gtest/gtest.h>

#include "cluster/ledger_fixture.h"

namespace muster::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class WindowsTest : public ::testing::Test, public LedgerFixture {
 protected:
  void SetUp() override {
    admit(cluster::worker(1), 4);
    admit(cluster::worker(2), 4);
    accept(kJob, outline({{}}));
    provision(0, {{0, cluster::worker(1), 2, 1}, {1, cluster::worker(2), 2, 1}});
  }
  const LedgerJob& job() const { return *ledger.job(kJob); }
  void tell(std::uint32_t part, std::uint64_t sequence, std::uint64_t iterations, std::uint64_t attempt = 1) {
    PartProgress progress;
    progress.part = {kJob, 0, part};
    progress.fence = {1, attempt};
    progress.sequence = sequence;
    progress.collected = now_.time_since_epoch();
    progress.counts.iterations = iterations;
    progress.vus = 8;
    windows_.add(progress, base::Duration::zero(), now_);
  }
  std::uint64_t total() const { return windows_.totals().at(0).counts.iterations; }

  base::Instant now_{std::chrono::hours(1)};
  Windows windows_;
};

TEST_F(WindowsTest, AddsUpTheLastValueOfEveryPart) {
  tell(0, 1, 10);
  tell(1, 1, 5);
  tell(0, 2, 30);
  EXPECT_EQ(total(), 35u);
  tell(0, 1, 10);
  EXPECT_EQ(total(), 35u);
}

TEST_F(WindowsTest, AWindowNamesWhoReportedAndWhoShouldHave) {
  tell(0, 1, 10);
  EXPECT_TRUE(windows_.closed(job(), 10, now_).empty());
  now_ += seconds(1);
  const auto rows = windows_.closed(job(), 10, now_);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].reported, 1u);
  EXPECT_EQ(rows[0].expected, 2u);
  EXPECT_EQ(rows[0].counts.iterations, 10u);
  EXPECT_TRUE(windows_.closed(job(), 10, now_).empty());
}

TEST_F(WindowsTest, TotalsNeverFallWhenAnAttemptIsLost) {
  tell(0, 1, 10);
  lost(0, 0, Loss::kNotRunning);
  windows_.sync(job(), now_);
  EXPECT_EQ(total(), 10u);
  provision(0, {{0, cluster::worker(2), 2, 2}});
  windows_.sync(job(), now_);
  EXPECT_EQ(windows_.totals()[0].lost.iterations, 10u);
  tell(0, 1, 4, 2);
  EXPECT_EQ(total(), 14u);
}

TEST_F(WindowsTest, AnAttemptThatWasGivenUpAndBringsItsResultAfterAllIsNotToldAsLost) {
  tell(0, 1, 4);
  lost(0, 0, Loss::kNotRunning);
  windows_.sync(job(), now_);
  EXPECT_EQ(windows_.totals()[0].lost.iterations, 0u);
  EXPECT_EQ(windows_.totals()[0].vus, 0u);
  held(0, 0);
  windows_.sync(job(), now_);
  EXPECT_EQ(total(), 10u);
  EXPECT_EQ(windows_.totals()[0].lost.iterations, 0u);
}

TEST_F(WindowsTest, AHeldResultIsTheLastWordOfItsAttempt) {
  tell(0, 1, 3);
  held(0, 0);
  windows_.sync(job(), now_);
  EXPECT_EQ(total(), 10u);
  tell(0, 2, 12);
  EXPECT_EQ(total(), 10u);
  EXPECT_EQ(windows_.totals()[0].lost.iterations, 0u);
}

TEST_F(WindowsTest, ALeaderThatTookOverKnowsEndedPartsByTheirResults) {
  held(0, 1);
  windows_.sync(job(), now_);
  EXPECT_EQ(total(), 10u);
}

}  // namespace
}  // namespace muster::cluster
