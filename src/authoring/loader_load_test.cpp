#include "authoring/loader_load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "authoring/loader_fixture.h"

namespace muster::authoring {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::string with_load(const std::string& load) {
  return "muster: 1\nload: " + load + "\nsteps: [ { get: 'http://a/' } ]\n";
}

model::Load load_of(const std::string& load) {
  Files files;
  const model::Job job = files.good(with_load(load));
  return job.workflows.empty() ? model::Load{} : job.workflows[0].load;
}

TEST(LoaderLoad, ReadsConstantVus) {
  const model::Load load = load_of("{ vus: 100, for: 30s, warm_up: 5s, every: 1s, grace: 2s }");
  EXPECT_EQ(load.shape, "constant-vus");
  EXPECT_EQ(load.vus, 100u);
  EXPECT_EQ(load.length, 30s);
  EXPECT_EQ(load.warm_up, 5s);
  EXPECT_EQ(load.every, 1s);
  EXPECT_EQ(load.grace, 2s);
  EXPECT_FALSE(load.open());
}

TEST(LoaderLoad, ReadsRampingVus) {
  const model::Load load = load_of("{ vus: [ { to: 100, over: 1m }, { hold: 5m }, { to: 0, over: 30s } ] }");
  EXPECT_EQ(load.shape, "ramping-vus");
  ASSERT_EQ(load.stages.size(), 3u);
  EXPECT_EQ(load.stages[1].to, 100);
  EXPECT_EQ(load.stages[1].over, 5min);
  EXPECT_EQ(load.stages[2].to, 0);
  EXPECT_EQ(load.vus, 100u);
}

TEST(LoaderLoad, ReadsAStageThatRisesAndHolds) {
  const model::Load load = load_of("{ vus: [ { to: 100, over: 1m, hold: 2m } ] }");
  ASSERT_EQ(load.stages.size(), 2u);
  EXPECT_EQ(load.stages[1].over, 2min);
}

TEST(LoaderLoad, StagesAreTogetherNoLongerThanALoadMayBe) {
  Files files;
  EXPECT_THAT(files.bad(with_load("{ vus: [ { to: 5, over: 8000h }, { hold: 8000h }, { to: 0, over: 0s } ] }")),
              HasSubstr("test.yaml:2:14: the stages of 'vus' take more than"));
  std::string many = "{ vus: [ { to: 5, over: 0s }";
  for (int i = 0; i < 400; ++i) many += ", { hold: 8760h }";
  EXPECT_THAT(files.bad(with_load(many + " ], warm_up: 1s }")), HasSubstr("together; make them shorter"));
}

TEST(LoaderLoad, ReadsIterationsSharedAndEach) {
  const model::Load shared = load_of("{ vus: 10, iterations: 1000 }");
  EXPECT_EQ(shared.shape, "shared-iterations");
  EXPECT_EQ(shared.iterations, 1000u);
  const model::Load each = load_of("{ vus: 10, iterations: 50 each }");
  EXPECT_EQ(each.shape, "iterations-each");
  EXPECT_EQ(each.iterations, 50u);
  EXPECT_EQ(load_of("{ iterations: 3 }").vus, 1u);
}

TEST(LoaderLoad, ReadsIterationsFromTheEnvironmentAsNumbers) {
  Files files;
  files.environment = {{"N", "7"}};
  for (const std::string& written : {"'${env.N}'", "\"${env.N}\"", "'${env.N} each'"})
    EXPECT_EQ(files.good(with_load("{ vus: 1, iterations: " + written + " }")).workflows[0].load.iterations, 7u);
  EXPECT_THAT(files.bad(with_load("{ vus: 1, iterations: '7' }")), HasSubstr("found '7'; leave out the quotes"));
}

TEST(LoaderLoad, ReadsConstantArrivals) {
  const model::Load load = load_of("{ rate: 200/s, for: 3m, max_vus: 5000, spacing: poisson, late: drop }");
  EXPECT_EQ(load.shape, "constant-arrivals");
  EXPECT_EQ(load.rate, 200);
  EXPECT_EQ(load.max_vus, 5000u);
  EXPECT_EQ(load.spacing, model::Spacing::kPoisson);
  EXPECT_EQ(load.late, model::LatePolicy::kDrop);
  EXPECT_TRUE(load.open());
}

TEST(LoaderLoad, ReadsRampingArrivals) {
  const model::Load load = load_of("{ rate: [ { to: 500/s, over: 2m }, { to: 60/m, over: 1m } ], max_vus: 100 }");
  EXPECT_EQ(load.shape, "ramping-arrivals");
  EXPECT_EQ(load.stages[0].to, 500);
  EXPECT_EQ(load.stages[1].to, 1);
}

TEST(LoaderLoad, GivesOpenLoadsEnoughVusForAnswersOfTenSeconds) {
  EXPECT_EQ(load_of("{ rate: 1/s, for: 1s }").max_vus, 100u);
  EXPECT_EQ(load_of("{ rate: 200/s, for: 1s }").max_vus, 2000u);
  EXPECT_EQ(load_of("{ rate: 100000/s, for: 1s }").max_vus, 50000u);
  EXPECT_EQ(load_of("{ rate: [ { to: 50/s, over: 1s }, { to: 10/s, over: 1s } ] }").max_vus, 500u);
}

TEST(LoaderLoad, ReadsAShapeThatWasRegisteredFromOutside) {
  Files files;
  files.languages.shapes.push_back(
      {"wave",
       {{.name = "height",
         .type = model::FieldType::kInteger,
         .doc = "Highest.",
         .min = 1,
         .max = 100,
         .required = true},
        {.name = "period", .type = model::FieldType::kDuration, .doc = "One wave.", .fallback = "10s"}}});
  const model::Job job = files.good(with_load("{ wave: { height: 7 }, for: 1m, vus: 3, max_vus: 4, grace: 1s }"));
  const model::Load& load = job.workflows[0].load;
  EXPECT_EQ(load.shape, "wave");
  EXPECT_EQ(load.vus, 3u);
  EXPECT_EQ(load.length, 1min);
  ASSERT_EQ(load.options.size(), 2u);
  EXPECT_EQ(*load.options[0].second.integer(), 7);
  EXPECT_EQ(*load.options[1].second.integer(), 10'000'000'000);
  EXPECT_THAT(files.bad(with_load("{ wave: { hight: 7 } }")),
              HasSubstr("unknown key 'hight' in 'wave'; did you mean 'height'?"));
  EXPECT_THAT(files.bad(with_load("{ wave: { height: 7 }, rate: 1/s }")), HasSubstr("'rate' does not go with 'wave'"));
  EXPECT_THAT(files.bad(with_load("{ wave: 7 }")), HasSubstr("'wave' must be a map"));
}

}  // namespace
}  // namespace muster::authoring
