#include "console/screen/screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "console/screen/blocks.h"
#include "console/screen/test_story.h"
#include "report/text_layout.h"

namespace muster::console {
namespace {

using test::Story;
using testing::HasSubstr;
using testing::Not;

// Compares with tests/data/screen/<name>.txt; MUSTER_UPDATE_GOLDEN=1 writes those files anew, to be looked at.
void expect_golden(const std::string& name, const Frame& frame) {
  const std::string path = std::string(MUSTER_TEST_DATA) + "/screen/" + name + ".txt";
  if (std::getenv("MUSTER_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << frame.text();
    return;
  }
  std::ostringstream golden;
  golden << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_EQ(frame.text(), golden.str()) << "differs from " << path << "; if the change is meant, run again with "
                                        << "MUSTER_UPDATE_GOLDEN=1 and look at the difference";
}

Frame shown(const Story& story, std::uint32_t second, Size size, const ScreenState& state = {}, bool unicode = true) {
  return render(story.watched(second), story.at(second), state, size, unicode);
}

TEST(Screen, ShowsTheBeginning) {
  expect_golden("begin_80x24", shown({}, 0, {80, 24}));
}

TEST(Screen, ShowsASteadyRun) {
  expect_golden("steady_80x24", shown({}, 15, {80, 24}));
  expect_golden("steady_200x50", shown({}, 15, {200, 50}));
  expect_golden("steady_40x12", shown({}, 15, {40, 12}));
}

TEST(Screen, ShowsErrorsAndThresholdsThatFail) {
  const Story story{.several = true, .trouble = 12};
  expect_golden("trouble_80x24", shown(story, 18, {80, 24}, {.view = 2, .pinned = true}));
  expect_golden("trouble_200x50", shown(story, 18, {200, 50}));
  expect_golden("trouble_40x12", shown(story, 18, {40, 12}));
}

TEST(Screen, ShowsMarksAndWhatWasLogged) {
  ScreenState state;
  state.marks = {{"saturated", "a core of the generator was 97% busy: what is measured may be muster itself"}};
  state.said = {"hello from a log step", "and another line"};
  expect_golden("marks_80x30", shown({}, 15, {80, 30}, state));
}

TEST(Screen, IsPlainAsciiWhereUnicodeIsNotWanted) {
  const Story story{.several = true, .trouble = 12};
  const Frame frame = shown(story, 18, {80, 24}, {}, false);
  for (const char each : frame.text()) ASSERT_GE(each, 0) << frame.text();
  expect_golden("ascii_80x24", frame);
}

TEST(Screen, ShowsTheKeysOverEverything) {
  expect_golden("help_80x24", shown({}, 15, {80, 24}, {.help = true}));
}

TEST(Screen, TellsThatTheRunIsPausedScaledOrStopping) {
  EXPECT_THAT(shown({}, 15, {80, 24}, {.paused = true}).text(), HasSubstr("PAUSED  50%"));
  EXPECT_THAT(shown({}, 15, {80, 24}, {.factor = 1.2}).text(), HasSubstr("load ×1.2"));
  const std::string stopping = shown({}, 15, {80, 24}, {.stopping = true, .message = "stopping: wait"}).text();
  EXPECT_THAT(stopping, HasSubstr("stopping  50%"));
  EXPECT_THAT(stopping, HasSubstr("\n stopping: wait\n"));
  EXPECT_THAT(stopping, Not(HasSubstr("left")));
}

TEST(Screen, ShowsTheTabThatIsChosenHoweverManyThereAre) {
  RunPlan plan;
  model::RunResult snapshot;
  for (int i = 1; i != 40; ++i) {
    plan.workflows.emplace_back().name = "workflow number " + std::to_string(i);
    snapshot.workflows.emplace_back();
  }
  const RunWatch watch(plan);
  for (std::size_t view = 0; view != watch.views(); ++view) {
    const std::string text = render(watch, snapshot, {.view = view}, {60, 20}, true).text();
    EXPECT_THAT(text, HasSubstr(view == 0 ? "[0 all] " : "workflow number " + std::to_string(view) + " ○]"));
  }
}

TEST(Screen, ShareRowsByWeight) {
  std::vector<Block> blocks(3);
  blocks[0].lines.resize(5);
  blocks[0].least = 2;
  blocks[2].lines.resize(4);
  EXPECT_EQ(share_rows(blocks, 20), (std::vector<std::size_t>{6, 0, 5}));
  EXPECT_EQ(share_rows(blocks, 7), (std::vector<std::size_t>{5, 0, 2}));
  EXPECT_EQ(share_rows(blocks, 4), (std::vector<std::size_t>{4, 0, 0}));
  EXPECT_EQ(share_rows(blocks, 2), (std::vector<std::size_t>{0, 0, 2}));
  EXPECT_EQ(share_rows(blocks, 0), (std::vector<std::size_t>{0, 0, 0}));
}

TEST(Screen, IsSafeForAnyNamesAndTexts) {
  const std::string evil = "\x1b]0;title\x07\x1b[31mred\n\xff注文を確定する手続き" + std::string(300, 'x');
  Story story{.several = true, .trouble = 5};
  RunPlan plan = story.plan();
  plan.job = evil;
  plan.target = evil;
  for (WorkflowPlan& workflow : plan.workflows) workflow.name = evil;
  model::RunResult snapshot = story.at(15);
  for (model::WorkflowResult& workflow : snapshot.workflows) {
    workflow.name = evil;
    workflow.reason = evil;
    for (model::StepResult& step : workflow.steps) {
      step.name = evil;
      for (model::CheckResult& check : step.checks) check.label = evil;
      for (model::ErrorSample& sample : step.samples) sample.detail = evil;
    }
  }
  for (model::ThresholdVerdict& verdict : snapshot.thresholds) verdict.text = verdict.where = evil;
  RunWatch watch(plan);
  watch.observe(snapshot, false);
  ScreenState state;
  state.message = evil;
  state.said = {evil};
  state.marks = {{"x", evil}};
  for (const Size size : {Size{80, 24}, Size{200, 50}, Size{40, 12}}) {
    std::istringstream lines(render(watch, snapshot, state, size, true).text());
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(report::width(line), size.columns);
      EXPECT_EQ(report::printable(line, true), line) << "a control character reached the terminal";
    }
  }
}

RC_GTEST_PROP(Screen, FitsAnySize, ()) {
  static const Story story{.several = true, .trouble = 5};
  static const RunWatch watch = story.watched(15);
  static const model::RunResult snapshot = story.at(15);
  const Size size{*rc::gen::inRange<std::size_t>(0, 160), *rc::gen::inRange<std::size_t>(0, 60)};
  ScreenState state;
  state.view = *rc::gen::inRange<std::size_t>(0, watch.views());
  state.help = *rc::gen::arbitrary<bool>();
  state.marks = {{"saturated", "a core was busy"}};
  state.said = {"hello"};
  const Frame frame = render(watch, snapshot, state, size, *rc::gen::arbitrary<bool>());
  RC_ASSERT(frame.size() == size);
}

TEST(Screen, SaysSomethingOnTheSmallestTerminals) {
  const Story story;
  EXPECT_EQ(shown(story, 15, {1, 1}).text(), "0\n");
  EXPECT_THAT(shown(story, 15, {5, 1}).text(), HasSubstr("00:15"));
  EXPECT_THAT(shown(story, 15, {20, 3}).text(), HasSubstr("50%"));
}

}  // namespace
}  // namespace muster::console
