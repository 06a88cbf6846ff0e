#include "cluster/gate_leases.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "cluster/gate_ledger_fixture.h"

namespace muster::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class GateLeasesTest : public ::testing::Test, public GateLedgerFixture {
 protected:
  void see(GateCommand command, base::Instant now) {
    apply(std::move(command));
    holder.sync(kJob, ledger.job(kJob), now);
    other.sync(kJob, ledger.job(kJob), now);
  }
  // Submitted by A, sent at kStart.
  void begin(base::Instant seen) {
    const RenewalId grant = *holder.submitting(kJob, kStart);
    see(JobSubmitted{kJob, kClient, kGateA, grant, body(1), outline({{}}), {"east"}, 0, false}, seen);
  }
  // Renewed by A, with whatever is due at `sent`.
  void renew_at(base::Instant sent, base::Instant seen, std::uint64_t heard = 0) {
    auto due = holder.due(sent);
    ASSERT_EQ(due.renew.size(), 1u);
    due.renew[0].heard = heard;
    see(LeasesRenewed{kGateA, due.renew}, seen);
  }

  GateOptions options;
  GateLeases holder{kGateA, 1, options};
  GateLeases other{kGateB, 2, options};
};

TEST_F(GateLeasesTest, TheHolderCountsFromWhenItSent) {
  begin(kStart + seconds(4));
  EXPECT_TRUE(holder.holds(kJob, 1, kStart + milliseconds(29'699)));
  EXPECT_FALSE(holder.holds(kJob, 1, kStart + milliseconds(29'701)));
  EXPECT_FALSE(holder.holds(kJob, 2, kStart + seconds(5)));
  EXPECT_FALSE(other.holds(kJob, 1, kStart + seconds(5)));
}

TEST_F(GateLeasesTest, TheOthersCountFromWhenTheySawIt) {
  begin(kStart + seconds(4));
  EXPECT_TRUE(other.due(kStart + seconds(34)).expired.empty());
  EXPECT_EQ(other.due(kStart + milliseconds(34'300)).expired, std::vector<JobId>{kJob});
}

TEST_F(GateLeasesTest, ARenewalIsDueAtAThirdAndLengthensBoth) {
  begin(kStart);
  EXPECT_TRUE(holder.due(kStart + seconds(9)).renew.empty());
  renew_at(kStart + seconds(10), kStart + seconds(11));
  EXPECT_TRUE(holder.holds(kJob, 1, kStart + seconds(39)));
  EXPECT_TRUE(other.due(kStart + seconds(41)).expired.empty());
}

TEST_F(GateLeasesTest, ARenewalThatCameTooLateGivesNothing) {
  begin(kStart);
  const auto due = holder.due(kStart + seconds(10));
  see(LeaseMoved{kJob, 2, job().renewal, fresh(), kGateB}, kStart + seconds(31));
  see(LeasesRenewed{kGateA, due.renew}, kStart + seconds(32));
  EXPECT_FALSE(holder.holds(kJob, 1, kStart + seconds(32)));
  EXPECT_FALSE(holder.holds(kJob, 2, kStart + seconds(32)));
}

TEST_F(GateLeasesTest, WhoTakesOverHoldsTheLeaseOnlyOnceItRenewed) {
  begin(kStart);
  see(LeaseMoved{kJob, 2, job().renewal, fresh(), kGateB}, kStart + seconds(31));
  EXPECT_FALSE(other.holds(kJob, 2, kStart + seconds(31)));
  const auto due = other.due(kStart + seconds(31));
  ASSERT_EQ(due.renew.size(), 1u);
  see(LeasesRenewed{kGateB, due.renew}, kStart + seconds(32));
  EXPECT_TRUE(other.holds(kJob, 2, kStart + seconds(60)));
}

TEST_F(GateLeasesTest, AFormerLifesLeaseIsAnothers) {
  begin(kStart);
  GateLeases reborn({kGateA.node, Life{2}}, 3, options);
  reborn.sync(ledger, kStart + seconds(1));
  EXPECT_FALSE(reborn.holds(kJob, 1, kStart + seconds(1)));
  EXPECT_TRUE(reborn.due(kStart + seconds(20)).renew.empty());
}

TEST_F(GateLeasesTest, WhoGivesALeaseUpDoesNotActUnderItAnyMore) {
  begin(kStart);
  holder.give_up(kJob);
  EXPECT_FALSE(holder.holds(kJob, 1, kStart + seconds(1)));
}

TEST_F(GateLeasesTest, ADatacentersLeaseBeginsWithItsAcceptanceAndFollowsWhatIsHeard) {
  begin(kStart);
  see(SlotOffered{{kJob, 1, 0, 1}, "east", false}, kStart + seconds(1));
  see(SlotAccepted{{kJob, 1, 0, 1}}, kStart + seconds(2));
  renew_at(kStart + seconds(10), kStart + seconds(10), 1);
  renew_at(kStart + seconds(20), kStart + seconds(20), 0);
  renew_at(kStart + seconds(30), kStart + seconds(30), 0);
  EXPECT_TRUE(holder.due(kStart + seconds(39)).unheard.empty());
  const auto due = holder.due(kStart + milliseconds(40'300));
  ASSERT_EQ(due.unheard.size(), 1u);
  EXPECT_EQ(due.unheard[0].job, kJob);
  EXPECT_TRUE(due.expired.empty());
}

TEST_F(GateLeasesTest, ATakeOverGivesDatacentersAWholeLeaseToBeHeard) {
  begin(kStart);
  see(SlotOffered{{kJob, 1, 0, 1}, "east", false}, kStart + seconds(1));
  see(SlotAccepted{{kJob, 1, 0, 1}}, kStart + seconds(2));
  see(LeaseMoved{kJob, 2, job().renewal, fresh(), kGateB}, kStart + seconds(31));
  EXPECT_TRUE(other.due(kStart + seconds(60)).unheard.empty());
  EXPECT_EQ(other.due(kStart + milliseconds(61'300)).unheard.size(), 1u);
}

TEST_F(GateLeasesTest, AnEndedJobHasNoLease) {
  begin(kStart);
  see(JobCancelled{kJob, kClient, "", ""}, kStart + seconds(1));
  EXPECT_FALSE(holder.holds(kJob, 1, kStart + seconds(1)));
  EXPECT_EQ(other.deadline(), base::kNever);
}

TEST_F(GateLeasesTest, WhatASnapshotBringsCountsFromItsArrival) {
  begin(kStart);
  GateLeases late(kGateB, 3, options);
  late.sync(ledger, kStart + seconds(100));
  late.sync(ledger, kStart + seconds(110));
  EXPECT_EQ(late.deadline(), kStart + milliseconds(130'300));
  late.sync(GateLedger(), kStart + seconds(111));
  EXPECT_EQ(late.deadline(), base::kNever);
}

// What a clock shows at a true time, if it runs by `rate`.
base::Instant shown(base::Instant now, double rate) {
  return base::Instant(base::from_seconds(base::seconds(now.time_since_epoch()) * rate));
}

RC_GTEST_PROP(GateLeases, TheHoldersTimeIsOverBeforeAnybodyElseCallsItExpired, (std::uint64_t seed)) {
  base::Random random(seed);
  const double one = 1 + 0.0098 * (random.unit() * 2 - 1);
  const double two = 1 + 0.0098 * (random.unit() * 2 - 1);
  GateLeases holder(kGateA, 1, {});
  GateLeases other(kGateB, 2, {});
  GateLedger ledger;
  base::Instant now = kStart;
  GateCommand command = JobSubmitted{
      kJob, kClient, kGateA, *holder.submitting(kJob, shown(now, one)), body(1), outline({{}}), {"east"}, 0, false};
  for (std::uint64_t sequence = 1; sequence < 10; ++sequence) {
    now += milliseconds(random.below(9000));
    ledger.apply(sequence, {kGateA, sequence, std::move(command)});
    holder.sync(kJob, ledger.job(kJob), shown(now, one));
    other.sync(kJob, ledger.job(kJob), shown(now + milliseconds(random.below(3000)), two));
    now += milliseconds(random.below(12000));
    command = LeasesRenewed{kGateA, holder.due(shown(now, one)).renew};
  }
  bool expired = false;
  for (int i = 0; i < 600 && !expired; ++i, now += milliseconds(100)) {
    expired = !other.due(shown(now, two)).expired.empty();
    RC_ASSERT(!expired || !holder.holds(kJob, 1, shown(now, one)));
  }
  RC_ASSERT(expired);
}

}  // namespace
}  // namespace muster::cluster
