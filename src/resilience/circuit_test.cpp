#include "resilience/circuit.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "resilience/start_fixture.h"

namespace muster::resilience {
namespace {

using base::Instant;
using namespace std::chrono_literals;

Circuit opened_at_start() {
  Circuit circuit;
  for (int i = 0; i < 3; ++i) circuit.failed(kStart);
  return circuit;
}

TEST(Circuit, OpensAtTheThirdFailureWithinTheWindow) {
  Circuit circuit;
  circuit.failed(kStart);
  circuit.failed(kStart + 10s);
  EXPECT_TRUE(circuit.allow(kStart + 20s));
  circuit.failed(kStart + 29s);
  EXPECT_EQ(circuit.state(kStart + 29s), CircuitState::kOpen);
  EXPECT_FALSE(circuit.allow(kStart + 29s));
}

TEST(Circuit, FailuresFurtherApartThanTheWindowLeaveItClosed) {
  Circuit circuit;
  for (int i = 0; i < 100; ++i) circuit.failed(kStart + i * 15s);
  EXPECT_EQ(circuit.state(kStart + 1500s), CircuitState::kClosed);
}

TEST(Circuit, SuccessesDoNotHideFailures) {
  Circuit circuit;
  for (int i = 0; i < 3; ++i) {
    circuit.failed(kStart + i * 1s);
    circuit.succeeded(kStart + i * 1s);
  }
  EXPECT_EQ(circuit.state(kStart + 3s), CircuitState::kOpen);
}

TEST(Circuit, IsHalfOpenAfterTenSecondsAndLetsOneTrialThrough) {
  Circuit circuit = opened_at_start();
  EXPECT_EQ(circuit.deadline(), kStart + 10s);
  EXPECT_FALSE(circuit.would_allow(kStart + 9s));
  EXPECT_TRUE(circuit.would_allow(kStart + 10s));
  EXPECT_TRUE(circuit.allow(kStart + 10s));
  EXPECT_FALSE(circuit.would_allow(kStart + 11s));
  EXPECT_FALSE(circuit.allow(kStart + 11s));
}

TEST(Circuit, ATrialThatSucceedsClosesItWithACleanRecord) {
  Circuit circuit = opened_at_start();
  ASSERT_TRUE(circuit.allow(kStart + 10s));
  circuit.succeeded(kStart + 11s);
  EXPECT_EQ(circuit.state(kStart + 11s), CircuitState::kClosed);
  circuit.failed(kStart + 12s);
  circuit.failed(kStart + 12s);
  EXPECT_EQ(circuit.state(kStart + 12s), CircuitState::kClosed);
}

TEST(Circuit, ATrialThatFailsOpensItForAsLongAgain) {
  Circuit circuit = opened_at_start();
  ASSERT_TRUE(circuit.allow(kStart + 10s));
  circuit.failed(kStart + 12s);
  EXPECT_EQ(circuit.state(kStart + 21s), CircuitState::kOpen);
  EXPECT_EQ(circuit.state(kStart + 22s), CircuitState::kHalfOpen);
}

TEST(Circuit, TheEndOfACallFromBeforeItOpenedIsNoTrial) {
  Circuit circuit = opened_at_start();
  circuit.succeeded(kStart + 1s);
  EXPECT_EQ(circuit.state(kStart + 1s), CircuitState::kOpen);
  circuit.succeeded(kStart + 10s);
  circuit.failed(kStart + 10s);
  EXPECT_EQ(circuit.state(kStart + 10s), CircuitState::kHalfOpen);
}

TEST(Circuit, ATrialThatNeverTellsDoesNotBlockTheNext) {
  Circuit circuit = opened_at_start();
  ASSERT_TRUE(circuit.allow(kStart + 10s));
  EXPECT_FALSE(circuit.allow(kStart + 19s));
  EXPECT_TRUE(circuit.allow(kStart + 20s));
}

TEST(Circuit, CanAskForSeveralSuccesses) {
  Circuit circuit(CircuitOptions{.half_open_trials = 2, .successes_to_close = 3});
  for (int i = 0; i < 3; ++i) circuit.failed(kStart);
  EXPECT_TRUE(circuit.allow(kStart + 10s));
  EXPECT_TRUE(circuit.allow(kStart + 10s));
  EXPECT_FALSE(circuit.allow(kStart + 10s));
  circuit.succeeded(kStart + 11s);
  circuit.succeeded(kStart + 11s);
  EXPECT_EQ(circuit.state(kStart + 11s), CircuitState::kHalfOpen);
  EXPECT_TRUE(circuit.allow(kStart + 11s));
  circuit.succeeded(kStart + 11s);
  EXPECT_EQ(circuit.state(kStart + 11s), CircuitState::kClosed);
}

RC_GTEST_PROP(Circuit, MovesLegallyAndKeepsItsQuotaWhateverHappens, ()) {
  const CircuitOptions options{.failures = *rc::gen::inRange(1u, 9u), .half_open_trials = *rc::gen::inRange(1u, 4u)};
  Circuit circuit(options);
  Instant now = kStart;
  CircuitState before = circuit.state(now);
  const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40));
  const auto check = [&] {
    const CircuitState after = circuit.state(now);
    RC_ASSERT(after == before || legal(before, after));
    RC_ASSERT(circuit.trials() <= options.half_open_trials);
    RC_ASSERT(after == CircuitState::kHalfOpen || circuit.trials() == 0);
    before = after;
  };
  for (const int step : steps) {
    now += step / 4 * 1s;
    check();
    if (step % 4 == 0) circuit.failed(now);
    if (step % 4 == 1) circuit.succeeded(now);
    if (step % 4 == 2) {
      const bool would = circuit.would_allow(now);
      RC_ASSERT(circuit.allow(now) == would);
      RC_ASSERT(!(would && before == CircuitState::kOpen));
    }
    check();
  }
}

}  // namespace
}  // namespace muster::resilience
