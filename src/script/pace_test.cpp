#include "script/pace.h"

#include <gtest/gtest.h>

namespace muster::script {
namespace {

using std::chrono::milliseconds;

TEST(Pace, AFailedIterationOwesWhatWholeOnesThoughtInTheMean) {
  Pace pace(true);
  pace.add(milliseconds(100));
  pace.add(milliseconds(300));
  EXPECT_EQ(pace.owed({}), milliseconds(200));
  EXPECT_EQ(pace.owed(milliseconds(150)), milliseconds(50));
  EXPECT_EQ(pace.owed(milliseconds(250)), milliseconds(0)) << "it has thought for longer";
}

TEST(Pace, BeforeAnyIterationWasWholeASecondIsOwed) {
  const Pace pace(true);
  EXPECT_EQ(pace.owed({}), milliseconds(1000));
  EXPECT_EQ(pace.owed(milliseconds(400)), milliseconds(600));
  EXPECT_EQ(pace.owed(milliseconds(1400)), milliseconds(0));
}

TEST(Pace, AScriptThatDoesNotThinkOwesNothing) {
  Pace pace(false);
  EXPECT_EQ(pace.owed({}), milliseconds(0));
  pace.add({});
  EXPECT_EQ(pace.owed({}), milliseconds(0));
}

TEST(Pace, ManyLongThinksDoNotOverflow) {
  Pace pace(true);
  for (int i = 0; i < 1000; ++i) pace.add(std::chrono::hours(365 * 24));
  EXPECT_EQ(pace.owed({}), std::chrono::hours(365 * 24));
}

}  // namespace
}  // namespace muster::script
