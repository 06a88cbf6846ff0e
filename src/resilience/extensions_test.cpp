#include "resilience/extensions.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <vector>

#include "resilience/start_fixture.h"

namespace muster::resilience {
namespace {

using base::Duration;
using base::Instant;
using namespace std::chrono_literals;

constexpr Instant kDeadline = kStart + 30s;

ExtensionAnswer ask(Extensions& extensions, double progress, Instant now = kStart, bool suspect = false) {
  return extensions.ask({.progress = progress, .active = 1}, kDeadline, suspect, now);
}

Extensions used_up() {
  Extensions extensions;
  for (int i = 1; i <= 5; ++i) ask(extensions, i * 0.1);
  return extensions;
}

TEST(Extensions, EachIsHalfTheOneBeforeDownToASecond) {
  Extensions extensions;
  Instant deadline = kDeadline;
  std::uint32_t left = 5;
  double progress = 0;
  for (const Duration expected : {15'000ms, 7'500ms, 3'750ms, 1'875ms, 1'000ms}) {
    const ExtensionAnswer answer = ask(extensions, progress += 0.1);
    ASSERT_TRUE(answer.granted());
    EXPECT_EQ(answer.extension, expected);
    EXPECT_EQ(answer.deadline, deadline += expected);
    EXPECT_EQ(answer.left, --left);
    EXPECT_EQ(answer.warning, left == 0);
  }
  EXPECT_EQ(ask(extensions, 0.9).verdict, ExtensionVerdict::kExhausted);
}

TEST(Extensions, NeedProgress) {
  Extensions extensions;
  EXPECT_EQ(ask(extensions, 0).verdict, ExtensionVerdict::kNoProgress);
  ASSERT_TRUE(ask(extensions, 0.5).granted());
  EXPECT_EQ(ask(extensions, 0.4).verdict, ExtensionVerdict::kNoProgress);
  EXPECT_EQ(ask(extensions, 0.5, kStart + 45s).verdict, ExtensionVerdict::kNoProgress);
  EXPECT_EQ(extensions.granted(), 1u);
}

TEST(Extensions, ARepeatedRequestGetsTheSameAnswer) {
  Extensions extensions;
  const ExtensionAnswer first = ask(extensions, 0.5);
  const ExtensionAnswer again = ask(extensions, 0.5, kStart + 1s);
  EXPECT_TRUE(again.granted());
  EXPECT_EQ(again.deadline, first.deadline);
  EXPECT_EQ(again.extension, first.extension);
  EXPECT_EQ(again.left, first.left);
}

TEST(Extensions, AreNotForSuspects) {
  Extensions extensions;
  EXPECT_EQ(ask(extensions, 0.5, kStart, true).verdict, ExtensionVerdict::kSuspect);
  EXPECT_EQ(extensions.deadline(kDeadline), kDeadline);
}

TEST(Extensions, RefuseWhatIsNoProgressAtAll) {
  Extensions extensions;
  for (const double progress : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(ask(extensions, progress).verdict, ExtensionVerdict::kMalformed);
  }
}

TEST(Extensions, AskedForAfterTheDeadlineCountFromNow) {
  Extensions extensions;
  EXPECT_EQ(ask(extensions, 0.5, kDeadline + 2s).deadline, kDeadline + 17s);
}

TEST(Extensions, AfterTheLastComesAGraceThenEviction) {
  const Extensions extensions = used_up();
  const Instant deadline = extensions.deadline(kDeadline);
  EXPECT_EQ(extensions.evict_at(kDeadline), deadline + 10s);
  EXPECT_FALSE(extensions.in_grace(deadline - 1ns));
  EXPECT_TRUE(extensions.in_grace(deadline));
  EXPECT_FALSE(extensions.in_grace(deadline + 10s));
}

TEST(Extensions, TellHowMuchGraceIsLeft) {
  Extensions extensions = used_up();
  const Instant deadline = extensions.deadline(kDeadline);
  EXPECT_EQ(ask(extensions, 0.9, deadline - 1s).grace_left, 10s);
  EXPECT_EQ(ask(extensions, 0.9, deadline + 4s).grace_left, 6s);
  EXPECT_EQ(ask(extensions, 0.9, deadline + 40s).grace_left, 0s);
}

TEST(Extensions, WithoutExtensionsEvictionComesAtTheDeadline) {
  EXPECT_EQ(Extensions().evict_at(kDeadline), kDeadline);
}

TEST(Extensions, StartAfreshOnceTheWorkerIsHealthy) {
  Extensions extensions = used_up();
  extensions.reset();
  EXPECT_EQ(extensions.evict_at(kDeadline), kDeadline);
  const ExtensionAnswer answer = ask(extensions, 0.1);
  EXPECT_TRUE(answer.granted());
  EXPECT_EQ(answer.extension, 15s);
}

RC_GTEST_PROP(Extensions, NeverPutEvictionOffByMoreThanTheirSum, ()) {
  Extensions extensions;
  for (const int percent : *rc::gen::container<std::vector<int>>(rc::gen::inRange(-5, 106))) {
    ask(extensions, percent / 100.0);
    RC_ASSERT(extensions.granted() <= 5u);
    RC_ASSERT(extensions.evict_at(kDeadline) <= kDeadline + 29'125ms + 10s);
  }
}

}  // namespace
}  // namespace muster::resilience
