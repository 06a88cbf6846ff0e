#include "console/ui_mode.h"

#include <gtest/gtest.h>

namespace muster::console {
namespace {

Surroundings terminal() {
  Surroundings around;
  around.out_terminal = true;
  around.error_terminal = true;
  around.term = "xterm-256color";
  around.locale = "en_GB.UTF-8";
  return around;
}

TEST(UiMode, IsFullOnATerminal) {
  EXPECT_EQ(choose_ui("auto", terminal()), UiMode::kFull);
}

TEST(UiMode, IsLinesWhereThereIsNoWholeTerminal) {
  Surroundings piped = terminal();
  piped.out_terminal = false;
  EXPECT_EQ(choose_ui("auto", piped), UiMode::kCi);
  Surroundings logged = terminal();
  logged.error_terminal = false;
  EXPECT_EQ(choose_ui("auto", logged), UiMode::kCi);
}

TEST(UiMode, IsLinesOnADumbTerminalInABuildAndInTheBackground) {
  Surroundings around = terminal();
  around.term = "dumb";
  EXPECT_EQ(choose_ui("auto", around), UiMode::kCi);
  around.term = "";
  EXPECT_EQ(choose_ui("auto", around), UiMode::kCi);
  around = terminal();
  around.ci = "true";
  EXPECT_EQ(choose_ui("auto", around), UiMode::kCi);
  around.ci = "False";
  EXPECT_EQ(choose_ui("auto", around), UiMode::kFull);
  around = terminal();
  around.foreground = false;
  EXPECT_EQ(choose_ui("auto", around), UiMode::kCi);
}

TEST(UiMode, IsWhatTheUserAsksFor) {
  EXPECT_EQ(choose_ui("full", {}), UiMode::kFull);
  EXPECT_EQ(choose_ui("ci", terminal()), UiMode::kCi);
  EXPECT_EQ(choose_ui("none", terminal()), UiMode::kNone);
}

TEST(UiMode, KnowsUnicodeByTheLocale) {
  Surroundings around = terminal();
  EXPECT_TRUE(unicode_wanted(around));
  around.locale = "C.utf8";
  EXPECT_TRUE(unicode_wanted(around));
  around.locale = "C";
  EXPECT_FALSE(unicode_wanted(around));
  around.locale = "";
  EXPECT_FALSE(unicode_wanted(around));
}

}  // namespace
}  // namespace muster::console
