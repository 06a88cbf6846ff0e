#include "sim/fault.h"

#include <gtest/gtest.h>

#include <set>

namespace muster::sim {
namespace {

using std::chrono::seconds;

TEST(FaultPlan, LiesWithinItsTimeAndInOrder) {
  const FaultProfile profile = FaultProfile::everything(10, 40);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    base::Random random(seed);
    const FaultPlan plan = draw_plan(profile, seconds(1), seconds(20), random);
    base::Duration last{};
    for (const Fault& fault : plan) {
      EXPECT_GE(fault.begin, seconds(1));
      EXPECT_LE(fault.begin + fault.length, seconds(20));
      EXPECT_GE(fault.begin, last);
      last = fault.begin;
    }
  }
}

TEST(FaultPlan, HoldsOnlyKindsWithAWeight) {
  FaultProfile profile;
  profile.with(FaultKind::kCrash).with(FaultKind::kLoss, 0.5);
  profile.least = profile.most = 20;
  profile.share_of_kinds = 1;
  base::Random random(1);
  std::set<FaultKind> kinds;
  for (const Fault& fault : draw_plan(profile, {}, seconds(20), random)) kinds.insert(fault.kind);
  EXPECT_EQ(kinds, (std::set<FaultKind>{FaultKind::kLoss, FaultKind::kCrash}));
}

TEST(FaultPlan, DrawsEveryKindOverManySeeds) {
  const FaultProfile profile = FaultProfile::everything(5, 15);
  std::set<FaultKind> kinds;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    base::Random random(seed);
    for (const Fault& fault : draw_plan(profile, {}, seconds(20), random)) kinds.insert(fault.kind);
  }
  EXPECT_EQ(kinds.size(), kFaultKinds);
}

TEST(FaultPlan, TellsEachFaultInWords) {
  const Fault fault{.kind = FaultKind::kOneWay,
                    .begin = seconds(2),
                    .length = std::chrono::milliseconds(500),
                    .aimed = true,
                    .strength = 0.25,
                    .choice = 1};
  EXPECT_EQ(fault.describe(), "one-way     from    2.000 s for   0.500 s, strength 0.25, aimed");
}

}  // namespace
}  // namespace muster::sim
