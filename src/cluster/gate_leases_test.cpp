#include "cluster/gate_leases.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "cluster/gate_ledger_fixture.h"

namespace muster::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr base::Instant kStart{std::chrono::hours(1)};

class GateLeasesTest : public ::testing::Test, public GateLedgerFixture {
 protected:
  // Sent by A at `sent`, applied everywhere at `seen`.
  void enter(GateCommand command, base::Instant sent, base::Instant seen) {
    const GateEntry entry{kGateA, ++sequence, std::move(command)};
    holder.sent(entry.sequence, sent);
    replay(entry, seen);
  }
  void replay(const GateEntry& entry, base::Instant seen) {
    ledger.apply(ledger.index() + 1, entry);
    holder.applied(entry, ledger, seen);
    other.applied(entry, ledger, seen);
  }
  JobSubmitted submission() const { return {kJob, kClient, kGateA, body(1), outline({{}}), {"east"}, 0, false}; }

  GateOptions options;
  GateLeases holder{kGateA, options};
  GateLeases other{kGateB, options};
};

TEST_F(GateLeasesTest, TheHolderCountsFromWhenItSent) {
  enter(submission(), kStart, kStart + seconds(4));
  EXPECT_TRUE(holder.holds(kJob, 1, kStart + milliseconds(29'699)));
  EXPECT_FALSE(holder.holds(kJob, 1, kStart + milliseconds(29'701)));
  EXPECT_FALSE(holder.holds(kJob, 2, kStart + seconds(5)));
  EXPECT_FALSE(other.holds(kJob, 1, kStart + seconds(5)));
}

TEST_F(GateLeasesTest, TheOthersCountFromWhenTheySawIt) {
  enter(submission(), kStart, kStart + seconds(4));
  EXPECT_FALSE(other.expired(kJob, kStart + seconds(34)));
  EXPECT_TRUE(other.expired(kJob, kStart + milliseconds(34'300)));
  EXPECT_EQ(other.expired_jobs(kStart + seconds(35)), std::vector<JobId>{kJob});
  EXPECT_EQ(other.next_expiry(), kStart + milliseconds(34'300));
}

TEST_F(GateLeasesTest, ARenewalLengthensBoth) {
  enter(submission(), kStart, kStart);
  enter(LeasesRenewed{kGateA, {{kJob, 1, 0}}}, kStart + seconds(10), kStart + seconds(11));
  EXPECT_TRUE(holder.holds(kJob, 1, kStart + seconds(39)));
  EXPECT_FALSE(other.expired(kJob, kStart + seconds(41)));
}

TEST_F(GateLeasesTest, ARepeatedSubmissionLengthensNothing) {
  enter(submission(), kStart, kStart);
  enter(submission(), kStart + seconds(20), kStart + seconds(20));
  EXPECT_FALSE(holder.holds(kJob, 1, kStart + seconds(30)));
}

TEST_F(GateLeasesTest, ALateCopyOfARenewalDoesNotCountForTheHolder) {
  enter(submission(), kStart, kStart);
  enter(LeasesRenewed{kGateA, {{kJob, 1, 0}}}, kStart + seconds(10), kStart + seconds(10));
  replay({kGateA, sequence, LeasesRenewed{kGateA, {{kJob, 1, 0}}}}, kStart + seconds(30));
  EXPECT_FALSE(holder.holds(kJob, 1, kStart + seconds(40)));
  EXPECT_FALSE(other.expired(kJob, kStart + seconds(59)));
}

TEST_F(GateLeasesTest, ARenewalThatCameTooLateGivesNothing) {
  enter(submission(), kStart, kStart);
  replay({kGateB, 1, LeaseMoved{kJob, 2, job().renewal, kGateB}}, kStart + seconds(31));
  enter(LeasesRenewed{kGateA, {{kJob, 1, 0}}}, kStart + seconds(10), kStart + seconds(32));
  EXPECT_FALSE(holder.holds(kJob, 1, kStart + seconds(32)));
  EXPECT_FALSE(holder.holds(kJob, 2, kStart + seconds(32)));
}

TEST_F(GateLeasesTest, WhoTakesOverHoldsTheLeaseOnlyOnceItRenewed) {
  enter(submission(), kStart, kStart);
  replay({kGateA, 50, LeaseMoved{kJob, 2, job().renewal, kGateB}}, kStart + seconds(31));
  EXPECT_FALSE(other.holds(kJob, 2, kStart + seconds(31)));
  other.sent(7, kStart + seconds(31));
  replay({kGateB, 7, LeasesRenewed{kGateB, {{kJob, 2, 0}}}}, kStart + seconds(32));
  EXPECT_TRUE(other.holds(kJob, 2, kStart + seconds(60)));
}

TEST_F(GateLeasesTest, ADatacentersLeaseBeginsWithItsAcceptanceAndFollowsWhatIsHeard) {
  enter(submission(), kStart, kStart);
  EXPECT_EQ(holder.slot_expires_at(kJob, 0), base::kNever);
  replay({kGateA, 50, SlotOffered{{kJob, 1, 0, 1}, "east", false}}, kStart + seconds(1));
  replay({kGateA, 51, SlotAccepted{{kJob, 1, 0, 1}}}, kStart + seconds(2));
  EXPECT_EQ(holder.slot_expires_at(kJob, 0), kStart + milliseconds(32'300));
  enter(LeasesRenewed{kGateA, {{kJob, 1, 0}}}, kStart + seconds(10), kStart + seconds(10));
  EXPECT_EQ(holder.slot_expires_at(kJob, 0), kStart + milliseconds(32'300));
  enter(LeasesRenewed{kGateA, {{kJob, 1, 1}}}, kStart + seconds(20), kStart + seconds(20));
  EXPECT_EQ(holder.slot_expires_at(kJob, 0), kStart + milliseconds(50'300));
}

TEST_F(GateLeasesTest, AnEndedJobHasNoLease) {
  enter(submission(), kStart, kStart);
  replay({kGateA, 50, JobCancelled{kJob, kClient, "", ""}}, kStart + seconds(1));
  EXPECT_FALSE(holder.holds(kJob, 1, kStart + seconds(1)));
  EXPECT_EQ(other.next_expiry(), base::kNever);
}

TEST_F(GateLeasesTest, WhatASnapshotBringsCountsFromItsArrival) {
  enter(submission(), kStart, kStart);
  GateLeases late(kGateB, options);
  late.installed(ledger, kStart + seconds(100));
  EXPECT_EQ(late.expires_at(kJob), kStart + milliseconds(130'300));
  late.installed(ledger, kStart + seconds(110));
  EXPECT_EQ(late.expires_at(kJob), kStart + milliseconds(130'300));
}

// True time, and what a clock shows that runs by `rate`.
base::Instant shown(base::Instant now, double rate) {
  return base::Instant(base::from_seconds(base::seconds(now.time_since_epoch()) * rate));
}

RC_GTEST_PROP(GateLeases, TheHoldersTimeIsOverBeforeAnybodyElseCallsItExpired, (std::uint64_t seed)) {
  base::Random random(seed);
  const double fast = 1 + 0.0098 * (random.unit() * 2 - 1);
  const double slow = 1 + 0.0098 * (random.unit() * 2 - 1);
  GateLeases holder(kGateA, {});
  GateLeases other(kGateB, {});
  GateLedger ledger;
  base::Instant now = kStart;
  GateCommand command = JobSubmitted{kJob, kClient, kGateA, body(1), outline({{}}), {"east"}, 0, false};
  for (std::uint64_t sequence = 1; sequence < 10; ++sequence) {
    const GateEntry entry{kGateA, sequence, std::move(command)};
    holder.sent(sequence, shown(now, fast));
    now += milliseconds(random.below(9000));
    ledger.apply(sequence, entry);
    holder.applied(entry, ledger, shown(now, fast));
    other.applied(entry, ledger, shown(now + milliseconds(random.below(3000)), slow));
    now += milliseconds(random.below(12000));
    command = LeasesRenewed{kGateA, {{kJob, 1, 0}}};
  }
  for (int i = 0; i < 600; ++i, now += milliseconds(100)) {
    RC_ASSERT(!holder.holds(kJob, 1, shown(now, fast)) || !other.expired(kJob, shown(now, slow)));
  }
}

}  // namespace
}  // namespace muster::cluster
