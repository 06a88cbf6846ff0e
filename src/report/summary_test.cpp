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

}  // namespace
}  // namespace muster::report
