#include "cluster/clock_offset.h"

#include <gtest/gtest.h>

namespace muster::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr base::Instant kReceived{seconds(1000)};

TEST(ClockOffset, IsThatOfTheFastestMessage) {
  ClockOffset offset;
  EXPECT_FALSE(offset.value());
  offset.take(seconds(10), kReceived + milliseconds(80));
  EXPECT_EQ(offset.value(), seconds(990) + milliseconds(80));
  offset.take(seconds(11), kReceived + milliseconds(1003));
  EXPECT_EQ(offset.value(), seconds(990) + milliseconds(3));
  offset.take(seconds(12), kReceived + milliseconds(2500));
  EXPECT_EQ(offset.value(), seconds(990) + milliseconds(3));
}

TEST(ClockOffset, FollowsAClockThatIsSlowerOrFaster) {
  for (const std::int64_t percent : {99, 101}) {
    ClockOffset offset;
    for (base::Duration passed{}; passed < seconds(600); passed += milliseconds(50)) {
      const base::Duration sent = passed * percent / 100;
      offset.take(sent, kReceived + passed + milliseconds(2));
      const base::Duration off = base::Instant(sent + *offset.value()) - (kReceived + passed);
      ASSERT_LE(std::chrono::abs(off), milliseconds(110)) << percent << " % after " << base::seconds(passed) << " s";
    }
  }
}

TEST(ClockOffset, GetsOverAClockThatStoodStill) {
  ClockOffset offset;
  offset.take(seconds(10), kReceived);
  // A machine that was suspended for a minute: its clock did not go on.
  for (int i = 1; i <= 11; ++i) offset.take(seconds(10 + i), kReceived + seconds(60 + i));
  EXPECT_EQ(offset.value(), seconds(1050));
}

TEST(ClockOffset, WhatWasSeenBeforeALongSilenceIsForgotten) {
  ClockOffset offset;
  offset.take(seconds(10), kReceived);
  offset.take(seconds(20), kReceived + seconds(10) + milliseconds(7));
  EXPECT_EQ(offset.value(), seconds(990) + milliseconds(7));
}

}  // namespace
}  // namespace muster::cluster
