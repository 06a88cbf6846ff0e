#include "cores/lease.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <map>

#include "cores/start_fixture.h"

namespace muster::cores {
namespace {

using base::Duration;
using base::Instant;
using base::NodeId;
using namespace std::chrono_literals;

constexpr NodeId kSelf{1};
constexpr NodeId kOther{2};
constexpr int kJob = 7;
using Table = LeaseTable<int>;

// A table that proposed the lease for itself at kStart and was told of the grant two seconds later.
Table holding() {
  Table table(kSelf, 1);
  table.granted(kJob, kSelf, 1, table.propose(kJob, kStart).value(), kStart + 2s);
  return table;
}

TEST(Lease, CountsFromWhenItsProposalWasSent) {
  const Table table = holding();
  EXPECT_EQ(table.valid(kJob, kStart + 3s), 1u);
  EXPECT_EQ(table.valid(kJob, kStart + 29'699ms), 1u);
  EXPECT_EQ(table.valid(kJob, kStart + 29'700ms), std::nullopt);
}

TEST(Lease, GivesNoRightBeforeTheLogHasToldOfIt) {
  Table table(kSelf, 1);
  table.propose(kJob, kStart);
  EXPECT_EQ(table.valid(kJob, kStart + 1s), std::nullopt);
}

TEST(Lease, OfSomebodyElseGivesNoRight) {
  Table table(kSelf, 1);
  table.granted(kJob, kOther, 1, RenewalId{5}, kStart);
  EXPECT_EQ(table.valid(kJob, kStart), std::nullopt);
}

TEST(Lease, IsRenewedEveryThirdAndThenCountsFromThatSending) {
  Table table = holding();
  EXPECT_EQ(table.deadline(), kStart + 10s);
  const auto due = table.due(kStart + 10s);
  ASSERT_EQ(due.renew.size(), 1u);
  EXPECT_EQ(due.renew[0].key, kJob);
  EXPECT_EQ(due.renew[0].epoch, 1u);
  EXPECT_EQ(table.valid(kJob, kStart + 30s), std::nullopt);
  table.renewed(kJob, 1, due.renew[0].renewal, kStart + 25s);
  EXPECT_EQ(table.valid(kJob, kStart + 39'699ms), 1u);
  EXPECT_EQ(table.valid(kJob, kStart + 39'700ms), std::nullopt);
}

TEST(Lease, ARenewalThatIsNotAnsweredIsSentAgain) {
  Table table = holding();
  EXPECT_EQ(table.due(kStart + 10s).renew.size(), 1u);
  EXPECT_EQ(table.due(kStart + 19s).renew.size(), 0u);
  EXPECT_EQ(table.due(kStart + 20s).renew.size(), 1u);
}

TEST(Lease, ARenewalThatCannotBeProposedStaysDue) {
  Table table = holding();
  EXPECT_TRUE(table.due(kStart + 10s, false).renew.empty());
  EXPECT_TRUE(table.due(kStart + 20s, false).renew.empty());
  EXPECT_EQ(table.due(kStart + 21s).renew.size(), 1u);
  EXPECT_TRUE(table.due(kStart + 22s).renew.empty());
}

TEST(Lease, AnAnswerToAnEarlierRenewalExtendsByLess) {
  Table table = holding();
  const auto first = table.due(kStart + 10s).renew.at(0);
  const auto second = table.due(kStart + 20s).renew.at(0);
  table.renewed(kJob, 1, first.renewal, kStart + 21s);
  EXPECT_EQ(table.valid(kJob, kStart + 39s), 1u);
  EXPECT_EQ(table.valid(kJob, kStart + 40s), std::nullopt);
  EXPECT_EQ(table.deadline(), kStart + 30s);
  table.renewed(kJob, 1, second.renewal, kStart + 22s);
  EXPECT_EQ(table.valid(kJob, kStart + 49s), 1u);
}

TEST(Lease, ARenewalOfAnotherEpochCountsForNothing) {
  Table table = holding();
  const auto renewal = table.due(kStart + 10s).renew.at(0);
  table.renewed(kJob, 2, renewal.renewal, kStart + 11s);
  EXPECT_EQ(table.valid(kJob, kStart + 35s), std::nullopt);
}

TEST(Lease, ATakeOverGivesNoRightUntilItWasRenewed) {
  Table table(kSelf, 1);
  table.granted(kJob, kSelf, 2, RenewalId{99}, kStart);
  EXPECT_EQ(table.valid(kJob, kStart), std::nullopt);
  EXPECT_EQ(table.deadline(), kStart);
  const auto due = table.due(kStart);
  ASSERT_EQ(due.renew.size(), 1u);
  table.renewed(kJob, 2, due.renew[0].renewal, kStart + 1s);
  EXPECT_EQ(table.valid(kJob, kStart + 1s), 2u);
}

TEST(Lease, ARestartedHolderHasToRenewFirst) {
  Table before = holding();
  const auto under_way = before.due(kStart + 10s).renew.at(0);
  Table after(kSelf, 2);
  after.granted(kJob, kSelf, 1, RenewalId{99}, kStart + 12s);
  after.due(kStart + 12s);
  after.renewed(kJob, 1, under_way.renewal, kStart + 13s);
  EXPECT_EQ(after.valid(kJob, kStart + 13s), std::nullopt);
}

TEST(Lease, EndsAtOnceWhenTheLogGivesItToAnother) {
  Table table = holding();
  table.granted(kJob, kOther, 2, RenewalId{5}, kStart + 5s);
  EXPECT_EQ(table.valid(kJob, kStart + 5s), std::nullopt);
  EXPECT_TRUE(table.due(kStart + 10s).renew.empty());
}

TEST(Lease, AnOlderGrantIsIgnored) {
  Table table(kSelf, 1);
  table.granted(kJob, kOther, 5, RenewalId{5}, kStart);
  table.granted(kJob, kSelf, 4, table.propose(kJob, kStart).value(), kStart);
  EXPECT_EQ(table.valid(kJob, kStart), std::nullopt);
}

TEST(Lease, OneThatWasGivenUpIsNeitherUsedNorRenewed) {
  Table table = holding();
  table.give_up(kJob);
  EXPECT_EQ(table.valid(kJob, kStart + 3s), std::nullopt);
  EXPECT_TRUE(table.due(kStart + 20s).renew.empty());
  EXPECT_EQ(table.due(kStart + 33s).expired.size(), 1u);
}

TEST(Lease, OthersWaitLongerThanItsHolder) {
  Table table(kSelf, 1);
  table.granted(kJob, kOther, 3, RenewalId{5}, kStart);
  EXPECT_EQ(table.deadline(), kStart + 30'300ms);
  EXPECT_TRUE(table.due(kStart + 30'299ms).expired.empty());
  const auto due = table.due(kStart + 30'300ms);
  ASSERT_EQ(due.expired.size(), 1u);
  EXPECT_EQ(due.expired[0].holder, kOther);
  EXPECT_EQ(due.expired[0].epoch, 3u);
  EXPECT_EQ(due.expired[0].renewal, RenewalId{5});
}

TEST(Lease, AnExpiryIsToldAgainUntilTheLogTellsOfIt) {
  Table table(kSelf, 1);
  table.granted(kJob, kOther, 3, RenewalId{5}, kStart);
  EXPECT_EQ(table.due(kStart + 31s).expired.size(), 1u);
  EXPECT_EQ(table.due(kStart + 31s).expired.size(), 0u);
  EXPECT_EQ(table.due(kStart + 32s).expired.size(), 1u);
  table.ended(kJob);
  EXPECT_EQ(table.deadline(), base::kNever);
  EXPECT_EQ(table.size(), 0u);
}

TEST(Lease, ARenewalPutsExpiryOff) {
  Table table(kSelf, 1);
  table.granted(kJob, kOther, 3, RenewalId{5}, kStart);
  table.renewed(kJob, 3, RenewalId{6}, kStart + 20s);
  EXPECT_TRUE(table.due(kStart + 50s).expired.empty());
  EXPECT_EQ(table.due(kStart + 51s).expired.at(0).renewal, RenewalId{6});
}

TEST(Lease, AProposalThatTheLogNeverTellsOfIsForgotten) {
  Table table(kSelf, 1);
  table.propose(kJob, kStart);
  table.due(table.deadline());
  EXPECT_EQ(table.size(), 0u);
}

TEST(Lease, TakesNoMoreThanItsBound) {
  Table table(kSelf, 1, {.max_leases = 1});
  EXPECT_TRUE(table.granted(1, kOther, 1, RenewalId{1}, kStart));
  EXPECT_FALSE(table.granted(2, kOther, 1, RenewalId{2}, kStart));
  EXPECT_EQ(table.propose(2, kStart), std::nullopt);
  EXPECT_TRUE(table.granted(1, kSelf, 2, RenewalId{3}, kStart));
}

// A holder and a leader with clocks of their own, and a log between them that takes its time and loses proposals.
class Pair {
 public:
  Pair(std::uint64_t seed, double holder_rate, double leader_rate)
      : random_(seed),
        holder_rate_(holder_rate),
        leader_rate_(leader_rate),
        holder_(kSelf, seed),
        leader_(kOther, ~seed) {}

  // Runs until the leader finds the lease expired, and says whether its holder could still have acted then.
  bool overlaps() {
    commit(holder_.propose(kJob, local(Duration(0), holder_rate_)).value(), true);
    Duration now{};
    while (now < 10min) {
      now = step(now);
      for (const auto& renewal : holder_.due(local(now, holder_rate_)).renew) {
        now_ = now;
        if (random_.below(3) == 0) commit(renewal.renewal, false);
      }
      if (!leader_.due(local(now, leader_rate_)).expired.empty()) {
        return holder_.valid(kJob, local(now, holder_rate_)).has_value();
      }
    }
    return false;
  }

 private:
  static Instant local(Duration truth, double rate) {
    return Instant(1h) + base::from_seconds(base::seconds(truth) * rate);
  }

  // The leader is told first, the holder some time after.
  void commit(RenewalId id, bool grant) {
    const Duration committed = now_ + random_.below(20'000) * 1ms;
    const Duration told = committed + random_.below(20'000) * 1ms;
    const auto tell = [id, grant](Table& table, double rate, Duration at) {
      if (grant) {
        table.granted(kJob, kSelf, 1, id, local(at, rate));
      } else {
        table.renewed(kJob, 1, id, local(at, rate));
      }
    };
    events_.emplace(committed, [=, this](Duration at) { tell(leader_, leader_rate_, at); });
    events_.emplace(told, [=, this](Duration at) { tell(holder_, holder_rate_, at); });
  }

  Duration step(Duration now) {
    now += 10ms;
    while (!events_.empty() && events_.begin()->first <= now) {
      const auto event = events_.extract(events_.begin());
      event.mapped()(now);
    }
    return now;
  }

  base::Random random_;
  double holder_rate_;
  double leader_rate_;
  Table holder_;
  Table leader_;
  Duration now_{};
  std::multimap<Duration, std::function<void(Duration)>> events_;
};

RC_GTEST_PROP(Lease, IsOverForItsHolderBeforeAnybodySaysSoWithinOnePercentOfDrift, (std::uint64_t seed)) {
  const double holder = *rc::gen::inRange(990, 1011) / 1000.0;
  const double leader = *rc::gen::inRange(990, 1011) / 1000.0;
  RC_ASSERT(!Pair(seed, holder, leader).overlaps());
}

}  // namespace
}  // namespace muster::cores
