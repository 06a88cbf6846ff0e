#include "engine/pulse.h"

#include <gtest/gtest.h>

namespace muster::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

base::Instant at(base::Duration since) {
  return base::Instant{} + std::chrono::hours(1) + since;
}

TEST(Pulse, ACoreThatComputesAndDoesNotComeBackLoops) {
  Pulse pulse(at({}), seconds(3));
  EXPECT_EQ(pulse.look(0, at(kScriptPatience - milliseconds(1)), seconds(7)), Pulse::Sign::kAlive);
  EXPECT_EQ(pulse.look(0, at(kScriptPatience), seconds(7)), Pulse::Sign::kLoops);
  EXPECT_EQ(pulse.silent(), kScriptPatience);
  EXPECT_EQ(pulse.computed(), seconds(4));
}

TEST(Pulse, ACoreThatTheMachineGivesNoTimeIsNotInALoop) {
  Pulse pulse(at({}), seconds(3));
  EXPECT_EQ(pulse.look(0, at(kScriptPatience * 2), seconds(3) + milliseconds(180)), Pulse::Sign::kAlive);
  EXPECT_EQ(pulse.look(0, at(kStarvedPatience), seconds(3) + milliseconds(180)), Pulse::Sign::kHangs);
}

TEST(Pulse, HalfTheTimeIsEnoughForALoop) {
  Pulse pulse(at({}), {});
  EXPECT_EQ(pulse.look(0, at(seconds(8)), milliseconds(3900)), Pulse::Sign::kAlive);
  EXPECT_EQ(pulse.look(0, at(seconds(8)), milliseconds(4000)), Pulse::Sign::kLoops);
}

TEST(Pulse, ACoreThatComesBackBeginsAnew) {
  Pulse pulse(at({}), {});
  EXPECT_EQ(pulse.look(1, at(seconds(60)), seconds(60)), Pulse::Sign::kAlive);
  EXPECT_EQ(pulse.look(1, at(seconds(64)), seconds(64)), Pulse::Sign::kAlive);
  EXPECT_EQ(pulse.look(2, at(seconds(66)), seconds(66)), Pulse::Sign::kAlive);
  EXPECT_EQ(pulse.look(2, at(seconds(72)), seconds(72)), Pulse::Sign::kLoops);
}

TEST(Pulse, WhatTheWatcherMissedIsNotHeldAgainstTheCore) {
  Pulse pulse(at({}), {});
  pulse.forgive(seconds(100));
  EXPECT_EQ(pulse.look(0, at(seconds(103)), seconds(3)), Pulse::Sign::kAlive);
}

}  // namespace
}  // namespace muster::engine
