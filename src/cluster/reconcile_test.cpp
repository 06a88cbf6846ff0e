#include "cluster/reconcile.h"

#include <gtest/gtest.h>

#include "cluster/ledger_fixture.h"

namespace muster::cluster {
namespace {

class ReconcileTest : public ::testing::Test, public LedgerFixture {
 protected:
  void SetUp() override {
    admit(cluster::worker(1), 4);
    admit(cluster::worker(2), 4);
    accept(kJob, outline({{}}));
    provision(0, {{0, cluster::worker(1), 2, 1}});
  }
  Finding only(const PartReport& report, const Process& from) {
    const auto actions = reconcile(ledger, from, {}, std::vector<PartReport>{report}, 5);
    EXPECT_EQ(actions.size(), 1u);
    return actions.front().finding;
  }
  static PartReport report(std::uint64_t epoch, std::uint64_t attempt, bool finished = false) {
    return {{kJob, 0, 0}, {epoch, attempt}, finished, {}, 0};
  }
};

TEST_F(ReconcileTest, AdoptsWhatRunsAsItShould) {
  EXPECT_EQ(only(report(1, 1), cluster::worker(1)), Finding::kAdopt);
}

TEST_F(ReconcileTest, StopsAnAttemptThatWasGivenToAnother) {
  lost(0, 0, Loss::kNotRunning);
  EXPECT_EQ(only(report(1, 1), cluster::worker(1)), Finding::kStop);
  EXPECT_EQ(only(report(1, 1, true), cluster::worker(1)), Finding::kAdopt);
  provision(0, {{0, cluster::worker(2), 2, 2}});
  EXPECT_EQ(only(report(1, 1), cluster::worker(1)), Finding::kStop);
  EXPECT_EQ(only(report(1, 1, true), cluster::worker(1)), Finding::kAck);
}

TEST_F(ReconcileTest, DoesNothingAboutAFenceAboveItsOwn) {
  EXPECT_EQ(only(report(2, 2), cluster::worker(2)), Finding::kNewer);
}

TEST_F(ReconcileTest, StopsWhatBelongsToAForgottenJobAndDoubtsWhatItNeverKnew) {
  held(0, 0);
  apply(JobEnded{kJob, 1, JobState::kCompleted, ""});
  EXPECT_EQ(only(report(1, 1), cluster::worker(1)), Finding::kStop);
  apply(JobForgotten{kJob});
  EXPECT_EQ(only(report(1, 1), cluster::worker(1)), Finding::kStop);
  EXPECT_EQ(only({{JobId{5}, 0, 0}, {1, 1}, false, {}, 0}, cluster::worker(1)), Finding::kUnknown);
}

TEST_F(ReconcileTest, MissesOnlyWhatWasAcceptedBeforeTheReport) {
  const std::vector<Tracked> tracked = {{{kJob, 0, 0}, {1, 1}, 5}};
  EXPECT_TRUE(reconcile(ledger, cluster::worker(1), tracked, {}, 5).empty());
  const auto actions = reconcile(ledger, cluster::worker(1), tracked, {}, 6);
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].finding, Finding::kMissing);
  const std::vector<PartReport> reported = {report(1, 1)};
  EXPECT_EQ(reconcile(ledger, cluster::worker(1), tracked, reported, 6).front().finding, Finding::kAdopt);
}

}  // namespace
}  // namespace muster::cluster
