#include "resilience/shedding.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "resilience/start_fixture.h"

namespace muster::resilience {
namespace {

using base::Instant;
using namespace std::chrono_literals;

constexpr Load kLoads[] = {Load::kHealthy, Load::kBusy, Load::kStressed, Load::kOverloaded};
constexpr Priority kPriorities[] = {Priority::kCritical, Priority::kHigh, Priority::kNormal, Priority::kLow};

int admitted(Shedder& shedder, std::uint64_t client, int tries, Load load, Instant now) {
  int count = 0;
  for (int i = 0; i < tries; ++i) count += shedder.admit(Priority::kHigh, client, load, now).admitted;
  return count;
}

TEST(Shedding, EachPriorityIsShedFromItsLoadOn) {
  EXPECT_FALSE(sheds(Load::kHealthy, Priority::kLow));
  EXPECT_TRUE(sheds(Load::kBusy, Priority::kLow));
  EXPECT_FALSE(sheds(Load::kBusy, Priority::kNormal));
  EXPECT_TRUE(sheds(Load::kStressed, Priority::kNormal));
  EXPECT_FALSE(sheds(Load::kStressed, Priority::kHigh));
  EXPECT_TRUE(sheds(Load::kOverloaded, Priority::kHigh));
  EXPECT_FALSE(sheds(Load::kOverloaded, Priority::kCritical));
}

TEST(Shedding, MoreLoadShedsNoLessAndMoreImportanceNoMore) {
  for (std::size_t load = 1; load < 4; ++load) {
    for (std::size_t priority = 1; priority < 4; ++priority) {
      EXPECT_LE(sheds(kLoads[load - 1], kPriorities[priority]), sheds(kLoads[load], kPriorities[priority]));
      EXPECT_LE(sheds(kLoads[load], kPriorities[priority - 1]), sheds(kLoads[load], kPriorities[priority]));
    }
  }
}

TEST(Shedding, WhoIsTurnedAwayLearnsToWaitLongerTheWorseItIs) {
  Shedder shedder;
  const auto busy = shedder.admit(Priority::kLow, 1, Load::kBusy, kStart);
  const auto stressed = shedder.admit(Priority::kLow, 1, Load::kStressed, kStart);
  const auto overloaded = shedder.admit(Priority::kLow, 1, Load::kOverloaded, kStart);
  EXPECT_FALSE(busy.admitted || stressed.admitted || overloaded.admitted);
  EXPECT_GT(busy.retry_after, 0s);
  EXPECT_LT(busy.retry_after, stressed.retry_after);
  EXPECT_LT(stressed.retry_after, overloaded.retry_after);
}

TEST(Shedding, UnderStressAGreedyClientIsHeldToItsShare) {
  Shedder shedder;
  admitted(shedder, 1, 300, Load::kHealthy, kStart);
  admitted(shedder, 2, 10, Load::kHealthy, kStart);
  admitted(shedder, 3, 20, Load::kHealthy, kStart);
  EXPECT_EQ(admitted(shedder, 1, 300, Load::kStressed, kStart + 1s), 110);
  EXPECT_EQ(admitted(shedder, 2, 10, Load::kStressed, kStart + 1s), 10);
  EXPECT_EQ(admitted(shedder, 3, 20, Load::kStressed, kStart + 1s), 20);
}

TEST(Shedding, SharesDoNotShrinkBecauseTheyWereEnforced) {
  Shedder shedder;
  for (int second = 0; second < 20; ++second) {
    const int got = admitted(shedder, 1, 100, Load::kStressed, kStart + second * 1s);
    admitted(shedder, 2, 20, Load::kStressed, kStart + second * 1s);
    if (second > 0) EXPECT_EQ(got, 60);
  }
}

TEST(Shedding, WithoutStressNobodyIsHeldToAShare) {
  Shedder shedder;
  admitted(shedder, 1, 10, Load::kBusy, kStart);
  admitted(shedder, 2, 10, Load::kBusy, kStart);
  EXPECT_EQ(admitted(shedder, 1, 500, Load::kBusy, kStart + 1s), 500);
}

TEST(Shedding, EveryClientHasALeastShare) {
  Shedder shedder;
  for (std::uint64_t client = 0; client < 100; ++client) admitted(shedder, client, 1, Load::kStressed, kStart);
  EXPECT_EQ(admitted(shedder, 7, 10, Load::kStressed, kStart + 1s), 2);
}

TEST(Shedding, ClientsBeyondTheBoundShareOneShare) {
  Shedder shedder({.max_clients = 2});
  for (std::uint64_t client = 0; client < 4; ++client) admitted(shedder, client, 10, Load::kHealthy, kStart);
  int rest = 0;
  admitted(shedder, 0, 1, Load::kStressed, kStart + 1s);
  admitted(shedder, 1, 1, Load::kStressed, kStart + 1s);
  for (std::uint64_t client = 2; client < 20; ++client)
    rest += admitted(shedder, client, 10, Load::kStressed, kStart + 1s);
  EXPECT_EQ(rest, 13);
}

RC_GTEST_PROP(Shedding, WhatIsCriticalIsNeverShed, (std::uint64_t client)) {
  Shedder shedder;
  const Load load = *rc::gen::elementOf(std::vector<Load>(std::begin(kLoads), std::end(kLoads)));
  admitted(shedder, client, *rc::gen::inRange(0, 500), load, kStart);
  RC_ASSERT(shedder.admit(Priority::kCritical, client, load, kStart + 1s).admitted);
}

}  // namespace
}  // namespace muster::resilience
