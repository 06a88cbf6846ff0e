#include "console/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace muster::console {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

class CompletionTest : public testing::Test {
 protected:
  CompletionTest() {
    CLI::App& run = *app_.add_subcommand("run", "Run it");
    run.add_option("file", text_, "A file")->type_name("YAML");
    run.add_option("--ui", text_, "How")->check(CLI::IsMember({"auto", "ci", "none"}));
    run.add_option("-o,--out", texts_, "Where")->type_name("NAME=ARGUMENT")->allow_extra_args(false);
    run.add_option("--log", text_, "Log")->type_name("FILE");
    run.add_flag("-k,--insecure", flag_, "Trust all");
    run.add_flag("--hidden", flag_, "Not shown")->group("");
    CLI::App& results = *app_.add_subcommand("results", "Past runs");
    results.add_subcommand("show", "One of them")->add_option("run", text_, "Which")->type_name("RUN");
    app_.add_subcommand("secret", "Not shown")->group("");
    context_.suggestions["RUN"] = [] {
      return std::vector<Suggestion>{{.value = "r-1", .doc = "yesterday"}, {.value = "r-2", .doc = "today"}};
    };
    context_.suggestions["NAME=ARGUMENT"] = [] {
      return std::vector<Suggestion>{{.value = "json="}, {.value = "csv="}};
    };
  }

  Completion at(std::vector<std::string> words) { return complete(app_, words, context_); }
  std::vector<std::string> values(std::vector<std::string> words) {
    std::vector<std::string> found;
    for (const Suggestion& each : at(std::move(words)).values) found.push_back(each.value);
    return found;
  }

  std::string text_;
  std::vector<std::string> texts_;
  bool flag_ = false;
  engine::Registry registry_ = {};
  report::Outputs outputs_;
  CommandContext context_{.registry = registry_, .outputs = outputs_};
  CLI::App app_{"", "muster"};
};

TEST_F(CompletionTest, TheFirstWordIsACommand) {
  EXPECT_THAT(values({""}), ElementsAre("run", "results"));
  EXPECT_THAT(values({"res"}), ElementsAre("results"));
  EXPECT_THAT(values({"results", ""}), ElementsAre("show"));
}

TEST_F(CompletionTest, FlagsAreOfferedOnceADashIsTyped) {
  EXPECT_THAT(values({"run", "--"}), ElementsAre("--help", "--ui", "--out", "--log", "--insecure"));
  EXPECT_THAT(values({"run", "-"}), Contains("-k"));
  EXPECT_THAT(values({"run", "--"}), Not(Contains("--hidden")));
}

TEST_F(CompletionTest, ChoicesFollowTheirFlagInEitherForm) {
  EXPECT_THAT(values({"run", "--ui", "c"}), ElementsAre("ci"));
  EXPECT_THAT(values({"run", "--ui=n"}), ElementsAre("--ui=none"));
  EXPECT_THAT(values({"run", "-k", "--ui", ""}), ElementsAre("auto", "ci", "none"));
}

TEST_F(CompletionTest, AFileArgumentAsksTheShellForFilesThatEndInYaml) {
  const Completion file = at({"run", "te"});
  EXPECT_EQ(file.paths, Completion::Paths::kFiles);
  EXPECT_THAT(file.endings, ElementsAre(".yaml", ".yml"));
  EXPECT_EQ(at({"run", "test.yaml", ""}).paths, Completion::Paths::kNone);
  EXPECT_EQ(at({"run", "--log", ""}).paths, Completion::Paths::kFiles);
}

TEST_F(CompletionTest, ValuesThatOnlyTheCommandKnowsComeFromItsHook) {
  EXPECT_THAT(values({"results", "show", "r"}), ElementsAre("r-1", "r-2"));
  EXPECT_EQ(at({"results", "show", "r-2"}).values.at(0).doc, "today");
}

TEST_F(CompletionTest, AnOutputIsNamedFirstAndThenGetsAFile) {
  EXPECT_THAT(values({"run", "--out", "j"}), ElementsAre("json="));
  const Completion after = at({"run", "-ko", "json=res"});
  EXPECT_THAT(after.values, IsEmpty());
  EXPECT_EQ(after.paths, Completion::Paths::kFiles);
}

TEST_F(CompletionTest, AfterTwoDashesNothingIsAFlag) {
  EXPECT_THAT(values({"run", "--", "--u"}), IsEmpty());
}

TEST_F(CompletionTest, NonsenseIsAnsweredWithNothing) {
  EXPECT_THAT(values({}), IsEmpty());
  EXPECT_THAT(values({"run", "--nothing="}), IsEmpty());
  EXPECT_THAT(values({"run", "--insecure=x"}), IsEmpty());
}

TEST(CompletionLines, SayWhatTheShellShallAdd) {
  Completion completion;
  completion.values = {{.value = "a", .doc = "one\ttwo"}, {.value = "b"}};
  EXPECT_EQ(completion_lines(completion), "a\tone two\nb\n:none\n");
  completion.values.clear();
  completion.paths = Completion::Paths::kFiles;
  completion.endings = {".yaml"};
  EXPECT_EQ(completion_lines(completion), ":files .yaml\n");
  completion.paths = Completion::Paths::kFolders;
  EXPECT_EQ(completion_lines(completion), ":folders\n");
}

}  // namespace
}  // namespace muster::console
