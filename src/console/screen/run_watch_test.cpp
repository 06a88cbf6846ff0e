#include "console/screen/run_watch.h"

#include <gtest/gtest.h>

#include "console/screen/test_story.h"

namespace muster::console {
namespace {

using namespace std::chrono_literals;
using test::Story;

TEST(RunWatch, TellsTotalsAndWhatIsRecent) {
  const Story story{.trouble = 12};
  const ViewFigures figures = story.watched(15).figures(0, story.at(15));
  EXPECT_EQ(figures.requests, 36'000u);
  EXPECT_EQ(figures.failed, 180u);
  EXPECT_DOUBLE_EQ(figures.rate, 2400);
  ASSERT_TRUE(figures.recent_rate);
  EXPECT_DOUBLE_EQ(*figures.recent_rate, 2400);
  ASSERT_EQ(figures.busy.size(), 2u);
  EXPECT_NEAR(figures.busy[0], 0.57, 1e-6);
  ASSERT_TRUE(figures.latency && figures.recent_latency);
  EXPECT_GT((*figures.recent_latency)[3], (*figures.latency)[2]) << "trouble weighs more in the last seconds";
}

TEST(RunWatch, FollowsThePercentilesOfEachSecond) {
  const Story story{.trouble = 40};
  const RunWatch watch = story.watched(60);
  ASSERT_EQ(watch.points(0).size(), 60u);
  for (std::uint32_t second = 0; second != 60; ++second) EXPECT_EQ(watch.points(0)[second].second, second);
  EXPECT_LT(watch.points(0)[39].high, 20ms);
  EXPECT_GT(watch.points(0)[40].high, 90ms);
}

TEST(RunWatch, MakesUpForSecondsThatItDidNotSee) {
  const Story story;
  RunWatch watch(story.plan());
  watch.observe(story.at(3), false);
  watch.observe(story.at(90), false);
  EXPECT_EQ(watch.points(0).size(), 90u);
}

TEST(RunWatch, TellsTheStageAndTheTimeLeft) {
  const Story story;
  const Progress progress = story.watched(15).figures(1, story.at(15)).progress;
  EXPECT_EQ(progress.text, "stage 2 of 3: hold 100 VUs");
  EXPECT_DOUBLE_EQ(progress.share.value_or(0), 0.5);
  EXPECT_EQ(progress.left, base::Duration(15s));
}

TEST(RunWatch, LeavesPausesOutOfTheTimeLeft) {
  const Story story;
  RunWatch watch = story.watched(10);
  watch.observe(story.at(15), true);
  const Progress progress = watch.figures(0, story.at(15)).progress;
  EXPECT_EQ(progress.left, base::Duration(20s));
}

TEST(RunWatch, LeavesTheTimeThatItWasStoppedOutOfTheProgress) {
  const Story story;
  RunWatch watch = story.watched(10);
  watch.stood_still(4s);
  watch.observe(story.at(10), false);  // a look from before it
  watch.observe(story.at(15), false);
  const Progress progress = watch.figures(0, story.at(15)).progress;
  EXPECT_EQ(progress.left, base::Duration(19s));
  EXPECT_NEAR(progress.share.value_or(0), 11.0 / 30, 1e-6);
  watch.observe(story.at(16), false);
  EXPECT_EQ(watch.figures(0, story.at(16)).progress.left, base::Duration(18s)) << "it counts once";
}

TEST(RunWatch, LeavesItOutOfTheProgressOfSeveralWorkflows) {
  const Story story{.several = true};
  RunWatch watch = story.watched(14);
  watch.stood_still(6s);
  watch.observe(story.at(20), false);
  const Progress progress = watch.figures(0, story.at(20)).progress;
  EXPECT_EQ(progress.left, base::Duration(20s));
  EXPECT_NEAR(progress.share.value_or(0), 14.0 / 34, 1e-6);
}

TEST(RunWatch, CountsATimeThatItWasStoppedWhilePausedOnce) {
  const Story story;
  RunWatch watch = story.watched(10);
  watch.stood_still(4s);
  watch.observe(story.at(15), true);
  EXPECT_EQ(watch.figures(0, story.at(15)).progress.left, base::Duration(20s));
}

TEST(RunWatch, GuessesTheEndOfIterationsFromThePace) {
  const Story story{.several = true};
  const Progress progress = story.watched(1).figures(1, story.at(1)).progress;
  EXPECT_EQ(progress.text, "1,200 of 4,800 iterations");
  EXPECT_TRUE(progress.about);
  EXPECT_EQ(progress.left, base::Duration(3s));
}

TEST(RunWatch, AddsUpTheChainOfWorkflowsThatWaitForEachOther) {
  const Story story{.several = true};
  const Progress early = story.watched(1).figures(0, story.at(1)).progress;
  EXPECT_EQ(early.text, "0 of 2 workflows done");
  EXPECT_EQ(early.left, base::Duration(33s));
  const Progress late = story.watched(14).figures(0, story.at(14)).progress;
  EXPECT_EQ(late.text, "1 of 2 workflows done");
  EXPECT_EQ(late.left, base::Duration(20s));
}

TEST(RunWatch, TellsErrorsByWeightWithTheirLatestSample) {
  const Story story{.trouble = 5};
  const auto errors = story.watched(10).figures(0, story.at(10)).errors;
  ASSERT_EQ(errors.size(), 3u);
  EXPECT_EQ(errors[0].error, model::ErrorClass::kStatus);
  EXPECT_EQ(errors[0].count, 150u);
  EXPECT_EQ(errors[0].detail, "status 503, expected 200..399");
  EXPECT_EQ(errors[0].step, "catalog");
}

TEST(RunWatch, HasNothingToTellBeforeTheFirstSnapshot) {
  const Story story;
  const RunWatch watch(story.plan());
  const ViewFigures figures = watch.figures(0, story.at(0));
  EXPECT_EQ(figures.requests, 0u);
  EXPECT_FALSE(figures.recent_rate);
  EXPECT_FALSE(figures.latency);
  EXPECT_TRUE(figures.busy.empty());
}

}  // namespace
}  // namespace muster::console
