#include "console/plain_words.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "console/job_flags.h"

namespace muster::console {
namespace {

class PlainWords : public testing::Test {
 protected:
  PlainWords() {
    app_.require_subcommand(1);
    CLI::App& run = *app_.add_subcommand("run", "Run it");
    run.add_option("-c,--vus", number_, "How many")->type_name("N")->check(whole_number(1, 10));
    run.add_option("--url", text_, "Where")->type_name("URL");
    run.add_option("--ui", text_, "How")->check(CLI::IsMember({"auto", "full", "none"}));
    run.add_option("-e,--env", texts_, "With what")->type_name("NAME=VALUE")->allow_extra_args(false);
    CLI::App& importing = *app_.add_subcommand("import", "Take it over");
    importing.require_subcommand(1);
    importing.add_subcommand("har", "A recording")->add_option("file", text_, "Which")->required();
    importing.add_subcommand("curl", "A command");
  }

  std::string said(std::vector<const char*> words) {
    words.insert(words.begin(), "muster");
    try {
      app_.parse(static_cast<int>(words.size()), words.data());
    } catch (const CLI::ParseError& error) {
      return in_plain_words(parsed_command(app_), error, words);
    }
    return "it was taken";
  }

  std::string text_;
  std::vector<std::string> texts_;
  unsigned number_ = 0;
  CLI::App app_{"", "muster"};
};

TEST_F(PlainWords, SayWhatAFlagTakes) {
  EXPECT_EQ(said({"run", "--ui", "foo"}), "--ui: expected auto, full or none, found 'foo'");
  EXPECT_EQ(said({"run", "--url"}), "--url needs an address");
  EXPECT_EQ(said({"run", "--ui"}), "--ui needs auto, full or none");
  EXPECT_EQ(said({"run", "-e"}), "-e needs NAME=VALUE");
  EXPECT_EQ(said({"run", "-c"}), "-c needs a number");
  EXPECT_EQ(said({"import", "har"}), "FILE is missing");
}

TEST_F(PlainWords, NameAFlagAsItWasTyped) {
  EXPECT_EQ(said({"run", "-c", "0"}), "-c: expected a whole number from 1 to 10, found '0'");
  EXPECT_EQ(said({"run", "-c0"}), "-c: expected a whole number from 1 to 10, found '0'");
  EXPECT_EQ(said({"run", "--vus", "0"}), "--vus: expected a whole number from 1 to 10, found '0'");
  EXPECT_EQ(said({"run", "--vus=0"}), "--vus: expected a whole number from 1 to 10, found '0'");
  EXPECT_EQ(said({"run", "-c", "1", "-c", "2"}), "-c is given 2 times; it takes one value");
}

TEST_F(PlainWords, TellSlips) {
  EXPECT_EQ(said({"run", "--ulr", "x"}), "unknown flag '--ulr'; did you mean '--url'?");
  EXPECT_EQ(said({"run", "--ulr=x"}), "unknown flag '--ulr'; did you mean '--url'?");
  EXPECT_EQ(said({"run", "-y"}), "unknown flag '-y'");
  EXPECT_EQ(said({"run", "x"}), "'x' is one word too many");
  EXPECT_EQ(said({"import", "crul"}), "unknown command 'crul'; did you mean 'curl'?");
}

TEST_F(PlainWords, TellWhatFlagsOfOtherToolsAreCalledHere) {
  CLI::App& run = *app_.get_subcommand("run");
  run.add_option("-d,--duration", text_, "How long");
  run.add_option("-X,--method", text_, "How");
  run.add_option("--timeout", text_, "How patiently");
  EXPECT_EQ(said({"run", "-T", "5s"}), "unknown flag '-T'; -T of wrk is --timeout here");
  EXPECT_EQ(said({"run", "-z", "10s"}), "unknown flag '-z'; -z of hey is -d here");
  EXPECT_EQ(said({"run", "-z10s"}), "unknown flag '-z10s'; -z of hey is -d here");
  EXPECT_EQ(said({"run", "-m", "PUT"}), "unknown flag '-m'; -m of hey and ab is -X here");
  EXPECT_EQ(said({"run", "--script=x.lua"}), "unknown flag '--script'; --script of wrk is SCRIPT.lua --url URL here");
  EXPECT_EQ(said({"run", "--rps", "5"}), "unknown flag '--rps'") << "this command has no -R";
}

TEST_F(PlainWords, AskForTheCommandThatIsMissing) {
  EXPECT_EQ(said({}), "name a command; 'muster help' lists them");
  EXPECT_EQ(said({"import"}), "name a command; 'muster help import' lists them");
}

}  // namespace
}  // namespace muster::console
