#include "authoring/import_curl_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace muster::authoring {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> words(std::string_view text) {
  const auto split = split_shell(text, {});
  if (!split) return {"refused: " + split.error().message};
  return split->commands.empty() ? std::vector<std::string>{} : split->commands.front().words;
}

TEST(ShellWords, AreCutAtBlanksOutsideQuotes) {
  EXPECT_THAT(words("curl  'a b' \"c d\"\te\\ f"), ElementsAre("curl", "a b", "c d", "e f"));
  EXPECT_THAT(words("a'b'\"c\"d ''"), ElementsAre("abcd", ""));
  EXPECT_THAT(words(R"(a "q\"\\\$\`\n" 'x\'y)"), ElementsAre("a", "q\"\\$`\\n", "x\\y"));
}

TEST(ShellWords, GoOnAfterABackslashAtTheLinesEnd) {
  EXPECT_THAT(words("curl \\\n  -H x \\\r\n  y"), ElementsAre("curl", "-H", "x", "y"));
  EXPECT_THAT(words("\"a\\\nb\""), ElementsAre("ab"));
}

TEST(ShellWords, KnowAnsiQuoting) {
  EXPECT_THAT(words(R"($'a\n\t\'\\\x41\101\u00e9\U0001F600\q')"), ElementsAre("a\n\t'\\AA\u00e9\U0001F600\\q"));
}

TEST(ShellWords, EndAnsiQuotesAtAZeroByteAsBashDoes) {
  EXPECT_THAT(words(R"($'a\x00b' $'a\0b'c $'\u0000x' $'a\c@b')"), ElementsAre("a", "ac", "", "a"));
  const auto split = split_shell(R"(curl --data-binary $'a\x00b')", {});
  ASSERT_TRUE(split);
  ASSERT_EQ(split->notes.size(), 1u);
  EXPECT_THAT(split->notes[0].message, HasSubstr("a zero byte in $'…' ends it, as in bash"));
}

TEST(ShellWords, LeaveCommentsOut) {
  EXPECT_THAT(words("# first\ncurl a#b # rest 'of it"), ElementsAre("curl", "a#b"));
}

TEST(ShellWords, NeverExpandVariablesButMarkThem) {
  EXPECT_THAT(words("a$X-${Y_1}b '$Z' \"$Q\" $ $."), ElementsAre("a\xFEX\xFF-\xFEY_1\xFF"
                                                                 "b",
                                                                 "$Z", "\xFEQ\xFF", "$", "$."));
}

TEST(ShellWords, NeverRunCommandsButSaySo) {
  const auto split = split_shell("curl -d $(date +%s) \"`id`\" ${X:-y}", {});
  ASSERT_TRUE(split);
  EXPECT_THAT(split->commands[0].words,
              ElementsAre("curl", "-d", "\xFESHELL_1\xFF", "\xFESHELL_2\xFF", "\xFESHELL_3\xFF"));
  ASSERT_EQ(split->notes.size(), 3u);
  EXPECT_THAT(split->notes[0].message, HasSubstr("$(date +%s) is not run"));
}

TEST(ShellWords, SayThatParametersOfTheShellAreNotKnown) {
  const auto split = split_shell("curl \"$1x\" $? ${2} '$3'", {});
  ASSERT_TRUE(split);
  EXPECT_THAT(split->commands[0].words, ElementsAre("curl",
                                                    "\xFESHELL_1\xFF"
                                                    "x",
                                                    "\xFESHELL_2\xFF", "\xFESHELL_3\xFF", "$3"));
  ASSERT_EQ(split->notes.size(), 3u);
  EXPECT_THAT(split->notes[0].message, HasSubstr("the expansion $1 is not run; its place holds ${env.SHELL_1}"));
}

TEST(ShellWords, NumberExpansionsOfHereDocumentsWithAllOthers) {
  const auto split = split_shell("curl $(a) -d @- <<E <<F\nx\n$(b)\nE\n$(c)\nF\ncurl $(d)", {});
  ASSERT_TRUE(split);
  ASSERT_EQ(split->commands.size(), 2u);
  EXPECT_EQ(split->commands[0].words.at(1), "\xFESHELL_1\xFF");
  EXPECT_EQ(split->commands[0].input, "\xFESHELL_3\xFF\n");
  EXPECT_EQ(split->commands[1].words.at(1), "\xFESHELL_4\xFF");
  std::vector<std::string> lines;
  for (const ImportNote& each : split->notes) lines.push_back(each.where);
  EXPECT_THAT(lines, ElementsAre("line 1", "line 3", "line 5", "line 7"));
}

TEST(ShellWords, EndCommandsAtOperators) {
  const auto split = split_shell("a b; c && d | e & f\ng", {});
  ASSERT_TRUE(split);
  std::vector<std::string> firsts;
  for (const ShellCommand& each : split->commands) firsts.push_back(each.words.front());
  EXPECT_THAT(firsts, ElementsAre("a", "c", "d", "e", "f", "g"));
  EXPECT_EQ(split->commands.back().line, 2u);
}

TEST(ShellWords, DropRedirectionsAndKeepHereDocuments) {
  EXPECT_THAT(words("curl x 2>/dev/null > out.txt 2>&1 y"), ElementsAre("curl", "x", "y"));
  const auto split = split_shell("curl -d @- x <<EOF\n{\"a\": \"$B\"}\nEOF\ncurl y", {});
  ASSERT_TRUE(split);
  ASSERT_EQ(split->commands.size(), 2u);
  EXPECT_EQ(split->commands[0].input,
            "{\"a\": \"\xFE"
            "B\xFF\"}\n");
  const auto escaped = split_shell("curl x <<EOF\n\\\" \\\\\" \\$A \\n\nEOF\n", {});
  EXPECT_EQ(escaped->commands[0].input, "\\\" \\\" $A \\n\n");
  const auto literal = split_shell("curl x <<'EOF'\n$B\nEOF\n", {});
  EXPECT_EQ(literal->commands[0].input, "$B\n");
}

TEST(ShellWords, GiveAHereDocumentToTheCommandThatAsksForIt) {
  for (const std::string after : {"| jq .", "&& echo ok", "; echo ok", "|| exit 1", "> out & wait", "| jq . # x"}) {
    const auto split = split_shell("first\ncurl -d @- http://a.test <<EOF " + after + "\n{}\nEOF\nlast", {});
    ASSERT_TRUE(split) << after;
    ASSERT_EQ(split->commands.size(), 4u) << after;
    for (const ShellCommand& each : split->commands) {
      const bool curl = each.words.front() == "curl";
      EXPECT_EQ(each.has_input, curl) << after;
      EXPECT_EQ(each.input, curl ? "{}\n" : "") << after;
    }
  }
  const auto two = split_shell("a <<X; b <<Y <<'Z'\nax\nX\nby\nY\nbz\nZ\nc", {});
  ASSERT_TRUE(two);
  ASSERT_EQ(two->commands.size(), 3u);
  EXPECT_EQ(two->commands[0].input, "ax\n");
  EXPECT_EQ(two->commands[1].input, "bz\n") << "the last one counts";
  EXPECT_FALSE(two->commands[2].has_input);
  const auto nobody = split_shell("<<X; a\nx\nX\nb", {});
  ASSERT_TRUE(nobody);
  ASSERT_EQ(nobody->commands.size(), 2u);
  EXPECT_FALSE(nobody->commands[0].has_input);
  EXPECT_FALSE(nobody->commands[1].has_input);
  const auto before = split_shell("<<X a\nx\nX\n", {});
  ASSERT_TRUE(before);
  EXPECT_EQ(before->commands.at(0).input, "x\n");
}

TEST(ShellWords, RefuseAQuoteThatIsNotClosed) {
  for (const char* text : {"curl 'a", "curl \"a", "curl $'a", "curl $(a", "curl `a", "curl ${a"}) {
    EXPECT_THAT(words(text).front(), HasSubstr("not closed")) << text;
  }
}

RC_GTEST_PROP(ShellWordsProperty, SingleQuotesKeepAnything, (const std::string& text)) {
  std::string quoted = "'";
  std::string expected;
  for (const char c : text) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    expected += c == '\xFE' ? "\xFE\x30\xFF" : c == '\xFF' ? "\xFE\x31\xFF" : std::string(1, c);
  }
  const auto split = split_shell("x " + quoted + "'", {});
  RC_ASSERT(split.has_value());
  RC_ASSERT(split->commands.size() == 1u);
  RC_ASSERT(split->commands[0].words.at(1) == expected);
}

}  // namespace
}  // namespace muster::authoring
