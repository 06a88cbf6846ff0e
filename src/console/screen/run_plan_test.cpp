#include "console/screen/run_plan.h"

#include <gtest/gtest.h>

namespace muster::console {
namespace {

using namespace std::chrono_literals;

model::Job job() {
  model::Job made;
  made.name = "shop.yaml";
  made.targets.emplace_back().address = "https://shop.test";
  model::Workflow login;
  login.name = "login";
  login.load.shape = "iterations-each";
  login.load.vus = 10;
  login.load.iterations = 50;
  model::Workflow shop;
  shop.name = "shop";
  shop.depends = {"login"};
  shop.load.shape = "ramping-vus";
  shop.load.stages = {{100, 1min}, {100, 5min}, {0, 30s}};
  model::Workflow feed;
  feed.name = "feed";
  feed.load.shape = "constant-arrivals";
  feed.load.rate = 200;
  feed.load.length = 3min;
  feed.load.max_vus = 50;
  made.workflows = {login, shop, feed};
  return made;
}

TEST(RunPlan, KnowsHowLongEachWorkflowTakes) {
  const RunPlan plan = run_plan(job(), engine::built_in_shapes(), {{0, 2}, {1}});
  ASSERT_EQ(plan.workflows.size(), 3u);
  EXPECT_EQ(plan.target, "https://shop.test");
  EXPECT_FALSE(plan.workflows[0].length);
  EXPECT_EQ(plan.workflows[0].iterations, 500u);
  EXPECT_EQ(plan.workflows[0].load, "10 VUs");
  EXPECT_EQ(plan.workflows[1].length, base::Duration(390s));
  EXPECT_EQ(plan.workflows[2].length, base::Duration(3min));
  EXPECT_EQ(plan.workflows[2].load, "200/s");
}

TEST(RunPlan, NamesTheStages) {
  const auto stages = run_plan(job(), engine::built_in_shapes(), {{0, 2}, {1}}).workflows[1].stages;
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_EQ(stages[0].text, "to 100 VUs");
  EXPECT_EQ(stages[1].text, "hold 100 VUs");
  EXPECT_EQ(stages[1].end, base::Duration(6min));
  EXPECT_EQ(stages[2].text, "to 0 VUs");
}

TEST(RunPlan, ShowsNoPasswordOfAnAddress) {
  model::Job secret = job();
  secret.targets[0].address = "https://user:word@shop.test/x@y";
  EXPECT_EQ(run_plan(secret, engine::built_in_shapes(), {}).target, "https://shop.test/x@y");
}

}  // namespace
}  // namespace muster::console
