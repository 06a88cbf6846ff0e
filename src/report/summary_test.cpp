#include "report/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "report/test_runs.h"
#include "report/text_layout.h"

namespace muster::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Compares with tests/data/summary/<name>.txt; MUSTER_UPDATE_GOLDEN=1 writes those files anew, to be looked at.
void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(MUSTER_TEST_DATA) + "/summary/" + name + ".txt";
  if (std::getenv("MUSTER_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ostringstream golden;
  golden << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_EQ(text, golden.str()) << "differs from " << path << "; if the change is meant, run again with "
                                << "MUSTER_UPDATE_GOLDEN=1 and look at the difference";
}

void expect_fits(const std::string& text, std::size_t columns) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(width(line), columns) << line;
    EXPECT_EQ(printable(line, true), line) << "a control character reached the terminal";
  }
}

TEST(Summary, TellsAGoodRun) {
  expect_golden("passed", summary(test::passed()));
}

TEST(Summary, TellsAnOpenRunThatFailedAndIsMarked) {
  expect_golden("marked", summary(test::marked()));
}

TEST(Summary, TellsARunInWhichEveryRequestFailed) {
  expect_golden("refused", summary(test::refused()));
}

TEST(Summary, TellsARunWhoseExecutorWasLost) {
  expect_golden("lost", summary(test::lost()));
}

TEST(Summary, TellsARunThatEndedBeforeItBegan) {
  expect_golden("nothing", summary(test::nothing()));
}

TEST(Summary, TellsSeveralWorkflowsWithLongNamesAndWideNumbers) {
  expect_golden("wide", summary(test::wide()));
}

TEST(Summary, ANumberOfAWorkflowWasCutByAnEllipsis) {
  for (std::size_t letters = 1; letters != 40; ++letters) {
    model::RunResult run = test::passed();
    run.workflows.resize(1);
    run.workflows[0].elapsed = std::chrono::milliseconds(7100);
    run.workflows[0].iterations = 12'345;
    run.workflows[0].failed_iterations = 6'789;
    run.workflows.push_back(run.workflows[0]);
    run.workflows[1].name = std::string(letters, 'n');
    for (const bool unicode : {true, false}) {
      const std::string text = summary(run, {.unicode = unicode, .columns = 80});
      const std::size_t heading = text.find("\n  n");
      ASSERT_NE(heading, std::string::npos) << text;
      EXPECT_THAT(text.substr(heading),
                  AllOf(HasSubstr(", 7.10s,"), HasSubstr(" 12,345 iterations,"), HasSubstr(" 6,789 failed\n")));
      expect_fits(text, 80);
    }
  }
}

TEST(Summary, TheWarmUpOfALaterWorkflowIsNotToldAsCounted) {
  model::RunResult run = test::passed();
  run.elapsed = std::chrono::milliseconds(3070);
  run.workflows.resize(1);
  run.workflows[0].elapsed = std::chrono::seconds(1);
  run.workflows.push_back(run.workflows[0]);
  run.workflows[1].began = run.workflows[0].began + std::chrono::seconds(2);
  EXPECT_THAT(summary(run), AllOf(HasSubstr("3.07s (2.00s of it counted) "), HasSubstr("rate over 3.00s")));
  run.workflows[1].began = run.workflows[0].began + std::chrono::seconds(1);
  EXPECT_THAT(summary(run), AllOf(HasSubstr("3.07s (2.00s of it counted) "), Not(HasSubstr("rate over"))));
}

TEST(Summary, IsPlainAsciiWhereUnicodeIsNotWanted) {
  const std::string text = summary(test::marked(), {.unicode = false}) + summary(test::wide(), {.unicode = false});
  for (const char each : text) ASSERT_GE(each, 0) << text;
  expect_golden("marked_ascii", summary(test::marked(), {.unicode = false}));
}

TEST(Summary, HasColoursOnlyWhenAskedFor) {
  EXPECT_THAT(summary(test::wide()), Not(HasSubstr("\x1b")));
  expect_golden("marked_colour", summary(test::marked(), {.colour = true}));
}

TEST(Summary, FitsItsColumnsWhateverTheNamesAndNumbers) {
  for (const auto& run : {test::passed(), test::marked(), test::wide(), test::refused(), test::lost()}) {
    for (const std::size_t columns : {std::size_t{80}, std::size_t{100}, std::size_t{200}}) {
      expect_fits(summary(run, {.columns = columns}), columns);
      expect_fits(summary(run, {.unicode = false, .columns = columns}), columns);
    }
  }
}

TEST(Summary, CondensesManyChecksThatHeld) {
  auto run = test::passed();
  for (int i = 0; i != 10; ++i) run.workflows[0].steps[1].checks.push_back({"check " + std::to_string(i), 10, 0});
  EXPECT_THAT(summary(run), HasSubstr("✓ all 12 checks held, all 85,568 times"));
}

TEST(Summary, DoesNotTickACheckThatNothingReached) {
  auto run = test::passed();
  run.workflows[0].steps[0].checks.push_back({"never", 0, 0});
  const std::string text = summary(run);
  EXPECT_THAT(text, HasSubstr("– " + run.workflows[0].steps[0].name + ": never"));
  EXPECT_THAT(text, HasSubstr("0 of 0       –"));
}

TEST(Summary, TellsACheckOfAScriptsOwnOnce) {
  auto run = test::passed();
  run.workflows[0].steps[0].name = "same user";
  run.workflows[0].steps[0].checks = {{"same user", 7, 0}};
  EXPECT_THAT(summary(run), HasSubstr("✓ same user  "));
  EXPECT_THAT(summary(run), Not(HasSubstr("same user: same user")));
}

TEST(Summary, LeavesOutWhatAWorkflowOfAScriptNeverCalled) {
  auto run = test::passed();
  model::UserMetric basket;
  basket.name = "basket";
  basket.type = model::MetricType::kCounter;
  run.workflows[0].metrics = {basket};
  model::StepResult never;
  never.name = "never called";
  never.kind = "http";
  never.checks = {{"never looked at", 0, 0}};
  run.workflows[0].steps.push_back(never);
  EXPECT_THAT(summary(run), HasSubstr("never called  ")) << "a step that was written there is worth seeing";
  EXPECT_THAT(summary(run), HasSubstr("basket"));
  run.workflows[0].scripted = true;
  EXPECT_THAT(summary(run), Not(HasSubstr("never called")));
  EXPECT_THAT(summary(run), Not(HasSubstr("never looked at")));
  EXPECT_THAT(summary(run), Not(HasSubstr("basket")));
}

TEST(Summary, ShowsNoFiguresOfAMetricThatNeverGotAValue) {
  auto run = test::passed();
  model::UserMetric basket;
  basket.name = "basket";
  run.workflows[0].metrics = {basket};
  EXPECT_THAT(summary(run), HasSubstr("basket"));
  EXPECT_THAT(summary(run), HasSubstr("no value"));
  EXPECT_THAT(summary(run), Not(HasSubstr("max 0")));
}

TEST(Summary, NamesTheWorkflowOfALabelThatStandsInTwo) {
  auto run = test::passed();
  model::UserMetric basket;
  basket.name = "basket";
  basket.type = model::MetricType::kCounter;
  basket.count = 1;
  run.workflows[0].name = "shop";
  run.workflows[0].metrics = {basket};
  run.workflows[0].steps[0].name = "home";
  run.workflows[0].steps[0].checks = {{"fresh", 7, 0}, {"only here", 7, 0}};
  run.workflows.push_back(run.workflows[0]);
  run.workflows[1].name = "pay";
  run.workflows[1].steps[0].checks = {{"fresh", 7, 0}};
  const std::string text = summary(run);
  EXPECT_THAT(text, HasSubstr("✓ shop: home: fresh"));
  EXPECT_THAT(text, HasSubstr("✓ pay: home: fresh"));
  EXPECT_THAT(text, HasSubstr("✓ home: only here"));
  EXPECT_THAT(text, HasSubstr("· shop: basket"));
  EXPECT_THAT(text, HasSubstr("· pay: basket"));
}

TEST(Summary, AnExampleOfAnErrorThatSeveralStepsHaveSaysWhoseItIsAndOfHowMany) {
  model::RunResult run = test::passed();
  std::vector<model::StepResult>& steps = run.workflows[0].steps;
  ASSERT_GE(steps.size(), 2u);
  constexpr auto kReset = static_cast<std::size_t>(model::ErrorClass::kReset);
  for (std::size_t i = 0; i != 2; ++i) {
    steps[i].name = i == 0 ? "half" : "reset";
    steps[i].failed = steps[i].errors[kReset] = 140;
    steps[i].samples = {{.error = model::ErrorClass::kReset,
                         .at = {},
                         .detail = i == 0 ? "the body ended early" : "Connection reset by peer",
                         .request = {},
                         .response = {}}};
  }
  EXPECT_THAT(summary(run, {}), HasSubstr("reset         280   half, 140 of them: the body ended early\n"));
  steps[1].errors[kReset] = 0;
  steps[1].samples.clear();
  EXPECT_THAT(summary(run, {}), HasSubstr("reset         140   half: the body ended early\n"));
}

}  // namespace
}  // namespace muster::report
