#include "cores/liveness.h"

#include <gtest/gtest.h>

#include "cores/start_fixture.h"

namespace muster::cores {
namespace {

using base::Instant;
using namespace std::chrono_literals;

constexpr LivenessOptions kWithoutJitter{.jitter = 0};

class LivenessTest : public testing::Test {
 protected:
  // Wakes whenever it is due until `end`; gives the number of probes sent.
  int wake_until(Instant end) {
    int probes = 0;
    while (peer_.deadline() <= end) probes += peer_.wake(peer_.deadline(), random_);
    return probes;
  }

  base::Random random_{1};
  Liveness peer_{kWithoutJitter, kStart};
};

TEST_F(LivenessTest, ProbesEveryTenSeconds) {
  peer_.heard(kStart);
  EXPECT_TRUE(peer_.wake(kStart, random_));
  peer_.heard(kStart);
  EXPECT_EQ(peer_.deadline(), kStart + 10s);
  EXPECT_TRUE(peer_.wake(kStart + 10s, random_));
  EXPECT_EQ(peer_.deadline(), kStart + 11s);
}

TEST_F(LivenessTest, ThreeMissesInARowAreTheEnd) {
  peer_.heard(kStart);
  wake_until(kStart + 20s);
  EXPECT_EQ(peer_.misses(), 2u);
  EXPECT_TRUE(peer_.alive(kStart + 20s));
  wake_until(kStart + 21s);
  EXPECT_FALSE(peer_.alive(kStart + 21s));
}

TEST_F(LivenessTest, AnySignOfLifeForgivesMisses) {
  peer_.heard(kStart);
  wake_until(kStart + 15s);
  EXPECT_EQ(peer_.misses(), 2u);
  peer_.heard(kStart + 15s);
  EXPECT_EQ(peer_.misses(), 0u);
  wake_until(kStart + 39s);
  EXPECT_TRUE(peer_.alive(kStart + 39s));
}

TEST_F(LivenessTest, SilenceIsTheEndEvenWithoutMisses) {
  Liveness patient({.misses = 100, .jitter = 0}, kStart);
  patient.heard(kStart);
  for (Instant now = kStart; now < kStart + 30s; now += 500ms) {
    EXPECT_TRUE(patient.alive(now));
    patient.wake(now, random_);
  }
  EXPECT_FALSE(patient.alive(kStart + 30s));
}

TEST_F(LivenessTest, AStartingPeerHasThirtyTries) {
  EXPECT_FALSE(peer_.started());
  EXPECT_EQ(wake_until(kStart + 149s), 30);
  EXPECT_TRUE(peer_.alive(kStart + 149s));
  wake_until(kStart + 150s);
  EXPECT_FALSE(peer_.alive(kStart + 150s));
}

TEST_F(LivenessTest, AStartingPeerIsNotReadyYet) {
  EXPECT_FALSE(peer_.answering(kStart));
  peer_.heard(kStart);
  EXPECT_TRUE(peer_.answering(kStart));
}

TEST_F(LivenessTest, WhoLeavesAProbeUnansweredForTwoSecondsIsNotReady) {
  peer_.heard(kStart);
  ASSERT_TRUE(peer_.wake(kStart, random_));
  wake_until(kStart + 1s);
  EXPECT_TRUE(peer_.answering(kStart + 1999ms));
  EXPECT_FALSE(peer_.answering(kStart + 2s));
  EXPECT_TRUE(peer_.alive(kStart + 2s));
  wake_until(kStart + 10s);
  EXPECT_FALSE(peer_.answering(kStart + 10s));
  peer_.heard(kStart + 10s);
  EXPECT_TRUE(peer_.answering(kStart + 10s));
}

TEST_F(LivenessTest, APauseOfTheWatcherIsNotTheSilenceOfThePeer) {
  peer_.heard(kStart);
  peer_.wake(kStart, random_);
  peer_.heard(kStart);
  peer_.wake(kStart + 10s, random_);
  const Instant awake = kStart + 100s;
  peer_.wake(awake, random_);
  EXPECT_TRUE(peer_.alive(awake));
  EXPECT_TRUE(peer_.answering(awake));
  EXPECT_EQ(peer_.misses(), 0u);
  wake_until(awake + 25s);
  EXPECT_FALSE(peer_.alive(awake + 25s));
}

TEST_F(LivenessTest, APauseOfTheWatcherDoesNotReachIntoTheFuture) {
  peer_.heard(kStart);
  peer_.wake(kStart, random_);
  peer_.heard(kStart + 99s);
  peer_.wake(kStart + 100s, random_);
  wake_until(kStart + 129s);
  EXPECT_FALSE(peer_.alive(kStart + 130s));
}

TEST_F(LivenessTest, ProbesAreSpread) {
  Liveness peer({}, kStart);
  peer.heard(kStart);
  peer.wake(kStart, random_);
  peer.heard(kStart);
  EXPECT_GE(peer.deadline(), kStart + 10s);
  EXPECT_LE(peer.deadline(), kStart + 11s);
  EXPECT_NE(peer.deadline(), kStart + 10s);
}

}  // namespace
}  // namespace muster::cores
