#include "engine/load_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace muster::engine {
namespace {

using base::Duration;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

std::unique_ptr<LoadShape> made(const model::Load& load) {
  auto shape = built_in_shapes().make(load);
  if (!shape) throw std::runtime_error(shape.error().message);
  return *std::move(shape);
}

model::Load named(std::string shape) {
  model::Load load;
  load.shape = std::move(shape);
  load.max_vus = 10;
  return load;
}

model::Load staged(std::string shape, std::vector<model::Stage> stages) {
  model::Load load = named(std::move(shape));
  load.stages = std::move(stages);
  return load;
}

TEST(ConstantVus, WantsTheSameUntilItsEnd) {
  model::Load load = named("constant-vus");
  load.vus = 100;
  load.length = 30s;
  const auto shape = made(load);
  EXPECT_FALSE(shape->open());
  EXPECT_EQ(shape->vus_at(0s), 100);
  EXPECT_EQ(shape->vus_at(30s - 1ns), 100);
  EXPECT_EQ(shape->vus_at(30s), 0);
  EXPECT_EQ(shape->next_change(0s), 30s);
  EXPECT_EQ(shape->next_change(30s), Duration::max());
  EXPECT_EQ(shape->peak_vus(), 100u);
  EXPECT_EQ(shape->iterations().of, IterationBound::Of::kNothing);
}

TEST(SharedIterations, BoundTheWorkflowAndStartNoIdleVus) {
  model::Load load = named("shared-iterations");
  load.vus = 10;
  load.iterations = 7;
  const auto shape = made(load);
  EXPECT_EQ(shape->iterations().of, IterationBound::Of::kWorkflow);
  EXPECT_EQ(shape->iterations().count, 7u);
  EXPECT_EQ(shape->peak_vus(), 7u);
  EXPECT_EQ(shape->length(), Duration::max());
  EXPECT_EQ(shape->next_change(0s), Duration::max());
}

TEST(IterationsEach, BoundEveryVuAndMayBeBoundInTime) {
  model::Load load = named("iterations-each");
  load.vus = 10;
  load.iterations = 50;
  load.length = 1min;
  const auto shape = made(load);
  EXPECT_EQ(shape->iterations().of, IterationBound::Of::kEachVu);
  EXPECT_EQ(shape->iterations().count, 50u);
  EXPECT_EQ(shape->length(), 1min);
}

TEST(RampingVus, FollowsItsStages) {
  const auto shape = made(staged("ramping-vus", {{100, 1min}, {100, 5min}, {0, 30s}}));
  EXPECT_EQ(shape->vus_at(0s), 0);
  EXPECT_EQ(shape->vus_at(30s), 50);
  EXPECT_EQ(shape->vus_at(1min), 100);
  EXPECT_EQ(shape->vus_at(6min), 100);
  EXPECT_EQ(shape->vus_at(6min + 15s), 50);
  EXPECT_EQ(shape->vus_at(6min + 30s), 0);
  EXPECT_EQ(shape->length(), 6min + 30s);
  EXPECT_EQ(shape->peak_vus(), 100u);
  EXPECT_EQ(shape->next_change(0s), 600ms);
  EXPECT_EQ(shape->next_change(2min), 6min + 1ns);
}

TEST(RampingVus, JumpsWhereAStageHasNoLength) {
  const auto shape = made(staged("ramping-vus", {{10, 0s}, {10, 5s}, {20, 0s}, {20, 5s}}));
  EXPECT_EQ(shape->vus_at(0s), 10);
  EXPECT_EQ(shape->next_change(0s), 5s);
  EXPECT_EQ(shape->vus_at(5s), 20);
  EXPECT_EQ(shape->next_change(5s), 10s);
}

RC_GTEST_PROP(RampingVus, ChangesExactlyWhenItSaysSo, ()) {
  const auto stage = rc::gen::map(
      rc::gen::pair(rc::gen::inRange(0, 50), rc::gen::inRange(0, 5000)),
      [](const std::pair<int, int>& pair) { return model::Stage{static_cast<double>(pair.first), 1ms * pair.second}; });
  auto stages = *rc::gen::container<std::vector<model::Stage>>(stage);
  stages.push_back({7, 3s});
  const auto shape = made(staged("ramping-vus", stages));
  Duration at{};
  std::size_t changes = 0;
  for (; at < shape->length(); ++changes) {
    const Duration next = shape->next_change(at);
    if (next == Duration::max()) break;
    RC_ASSERT(next > at);
    RC_ASSERT(shape->vus_at(next) != shape->vus_at(at));
    RC_ASSERT(shape->vus_at(next - 1ns) == shape->vus_at(at));
    RC_ASSERT(shape->vus_at(at + (next - at) / 2) == shape->vus_at(at));
    at = next;
  }
  RC_ASSERT(at == shape->length());
  RC_ASSERT(shape->vus_at(at) == 0);
  RC_ASSERT(changes >= 7u);
}

TEST(ConstantArrivals, AreEvenlySpacedUntilTheEnd) {
  model::Load load = named("constant-arrivals");
  load.rate = 200;
  load.length = 3min;
  const auto shape = made(load);
  EXPECT_TRUE(shape->open());
  EXPECT_EQ(shape->arrival(0), 0s);
  EXPECT_EQ(shape->arrival(1), 5ms);
  EXPECT_EQ(shape->arrival(35'999), 3min - 5ms);
  EXPECT_EQ(shape->arrival(36'000), Duration::max());
  EXPECT_EQ(shape->peak_vus(), 10u);
}

TEST(RampingArrivals, InvertTheIntegralOfALinearRamp) {
  const auto shape = made(staged("ramping-arrivals", {{10, 10s}, {10, 10s}, {0, 10s}}));
  EXPECT_EQ(shape->arrival(0), 0s);
  EXPECT_EQ(shape->arrival(12.5), 5s);
  EXPECT_EQ(shape->arrival(50), 10s);
  EXPECT_EQ(shape->arrival(100), 15s);
  EXPECT_EQ(shape->arrival(150), 20s);
  EXPECT_EQ(shape->arrival(187.5), 25s);
  EXPECT_EQ(shape->arrival(200), Duration::max());
  EXPECT_EQ(shape->length(), 30s);
}

TEST(RampingArrivals, SkipStagesWithoutArrivals) {
  const auto shape = made(staged("ramping-arrivals", {{0, 10s}, {4, 0s}, {4, 10s}}));
  EXPECT_EQ(shape->arrival(0), 10s);
  EXPECT_EQ(shape->arrival(4), 11s);
}

RC_GTEST_PROP(RampingArrivals, NeverGoBackInTime, ()) {
  const auto stage = rc::gen::map(
      rc::gen::pair(rc::gen::inRange(0, 50), rc::gen::inRange(0, 5000)),
      [](const std::pair<int, int>& pair) { return model::Stage{static_cast<double>(pair.first), 1ms * pair.second}; });
  auto stages = *rc::gen::container<std::vector<model::Stage>>(stage);
  stages.push_back({7, 3s});
  const auto shape = made(staged("ramping-arrivals", stages));
  Duration before{};
  for (double count = 0;; count += 0.37) {
    const Duration at = shape->arrival(count);
    RC_ASSERT(at >= before);
    if (at == Duration::max()) break;
    RC_ASSERT(at < shape->length());
    before = at;
  }
}

TEST(LoadShapes, TellWhatIsMissing) {
  const auto message = [](const model::Load& load) { return built_in_shapes().make(load).error().message; };
  EXPECT_THAT(message(named("constant-vus")), HasSubstr("add 'for'"));
  EXPECT_THAT(message(named("shared-iterations")), HasSubstr("'iterations'"));
  EXPECT_THAT(message(named("ramping-vus")), HasSubstr("needs a stage"));
  EXPECT_THAT(message(named("constant-arrivals")), HasSubstr("above 0"));
  EXPECT_THAT(message(named("spiral")), HasSubstr("no load shape 'spiral'. Known are: constant-vus"));
  EXPECT_THAT(message(staged("ramping-vus", {{std::nan(""), 1s}})), HasSubstr("must lie between"));
}

TEST(LoadShapes, AcceptOneFromOutside) {
  class Pulse final : public LoadShape {
   public:
    bool open() const override { return false; }
    Duration length() const override { return 1s; }
    std::uint64_t peak_vus() const override { return 1; }
  };
  LoadShapes shapes = built_in_shapes();
  shapes.add("pulse", [](const model::Load&) -> base::Expected<std::unique_ptr<LoadShape>> {
    return std::make_unique<Pulse>();
  });
  EXPECT_EQ(shapes.make(named("pulse")).value()->length(), 1s);
}

}  // namespace
}  // namespace muster::engine
