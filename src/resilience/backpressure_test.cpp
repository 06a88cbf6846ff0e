#include "resilience/backpressure.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace muster::resilience {
namespace {

using namespace std::chrono_literals;

TEST(Backpressure, RisesWithTheQueue) {
  EXPECT_EQ(pressure(0, 1000), Pressure::kNone);
  EXPECT_EQ(pressure(699, 1000), Pressure::kNone);
  EXPECT_EQ(pressure(700, 1000), Pressure::kThrottle);
  EXPECT_EQ(pressure(850, 1000), Pressure::kBatch);
  EXPECT_EQ(pressure(950, 1000), Pressure::kReject);
  EXPECT_EQ(pressure(5000, 1000), Pressure::kReject);
}

TEST(Backpressure, AQueueWithoutRoomRejects) {
  EXPECT_EQ(pressure(0, 0), Pressure::kReject);
}

TEST(Backpressure, SendersCollectForLongerUnderPressure) {
  EXPECT_EQ(flush_interval(Pressure::kNone), 50ms);
  EXPECT_LT(flush_interval(Pressure::kNone), flush_interval(Pressure::kThrottle));
  EXPECT_LT(flush_interval(Pressure::kThrottle), flush_interval(Pressure::kBatch));
  EXPECT_LT(flush_interval(Pressure::kBatch), flush_interval(Pressure::kReject));
}

RC_GTEST_PROP(Backpressure, MoreQueuedIsNeverLessPressure, (std::size_t queued, std::size_t capacity)) {
  RC_PRE(queued < SIZE_MAX);
  RC_ASSERT(pressure(queued, capacity) <= pressure(queued + 1, capacity));
}

}  // namespace
}  // namespace muster::resilience
