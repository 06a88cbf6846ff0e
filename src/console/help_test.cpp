#include "console/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <sstream>

#include "console/man_page.h"
#include "report/text_layout.h"

namespace muster::console {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class HelpTest : public testing::Test {
 protected:
  HelpTest() {
    CLI::App& command = *app_.add_subcommand("load", "Puts a load on something, for as long as it is told to");
    command.footer("Examples:\n  muster load x.yaml\nEnds by itself.");
    command.add_option("file", text_, "What to load")->group("What");
    command.add_option("--url", text_, "Or an address")->type_name("URL")->group("What")->configurable(false);
    command.add_option("-c,--max-vus", number_, std::string(20, 'w') + " and then a sentence that goes on for a while")
        ->group("How");
    command.add_option("--ui", text_, "Progress")->check(CLI::IsMember({"ci", "none"}));
  }

  const CLI::App& command() const { return *app_.get_subcommands(nullptr).front(); }

  std::string text_;
  unsigned number_ = 0;
  CLI::App app_{"a program", "muster"};
};

TEST_F(HelpTest, TheOutlineReadsWhatTheAppSays) {
  const CommandOutline made = outline(command(), "muster load");
  EXPECT_THAT(made.usage, ElementsAre("muster load FILE [flags]", "muster load --url URL [flags]"));
  EXPECT_THAT(made.examples, ElementsAre("muster load x.yaml"));
  EXPECT_THAT(made.notes, ElementsAre("Ends by itself."));
  ASSERT_EQ(made.flags.size(), 5u);
  EXPECT_EQ(made.flags[0].names.front(), "FILE");
  EXPECT_EQ(made.flags[1].variable, "");
  EXPECT_THAT(made.flags[2].names, ElementsAre("-c", "--max-vus"));
  EXPECT_EQ(made.flags[2].value, "N");
  EXPECT_EQ(made.flags[2].variable, "MUSTER_MAX_VUS");
  EXPECT_EQ(made.flags[3].value, "ci|none");
  EXPECT_EQ(made.flags[4].group, kEveryCommand);
}

TEST_F(HelpTest, ExamplesStandBeforeFlagsAndNothingIsWiderThan80Columns) {
  CommandOutline made = outline(command(), "muster load");
  made.examples.push_back("muster load --body 'a text with blanks in it that must not be cut in two' " +
                          std::string(40, 'x') + " --url y");
  const std::string text = help_text(made, false);
  EXPECT_LT(text.find("Examples:"), text.find("What:"));
  EXPECT_LT(text.find("What:"), text.find("How:"));
  EXPECT_THAT(text, HasSubstr("'a text with blanks in it that must not be cut in two'"));
  EXPECT_THAT(text, HasSubstr(" \\\n"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(report::width(line), 80u) << line;
}

TEST_F(HelpTest, HeadingsAreBoldOnlyWithColours) {
  EXPECT_EQ(help_text(outline(command(), "muster load"), false).find('\x1b'), std::string::npos);
  EXPECT_THAT(help_text(outline(command(), "muster load"), true), HasSubstr("\x1b[1mExamples:\x1b[0m"));
}

TEST_F(HelpTest, AManualPageHasEveryFlagAndNothingThatRoffWouldTakeForItself) {
  const std::vector<ManPage> pages = man_pages(app_);
  ASSERT_EQ(pages.size(), 2u);
  EXPECT_EQ(pages[1].name, "muster-load");
  EXPECT_THAT(pages[1].text, HasSubstr("\\fB\\-\\-max\\-vus\\fR \\fIN\\fR"));
  EXPECT_THAT(pages[1].text, HasSubstr("MUSTER_MAX_VUS"));
  EXPECT_THAT(pages[1].text, HasSubstr(".SH EXIT STATUS"));
  EXPECT_THAT(pages[0].text, HasSubstr("\\fBmuster\\-load\\fR(1)"));
}

}  // namespace
}  // namespace muster::console
