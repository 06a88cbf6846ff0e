#include "authoring/yaml_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "authoring/loader_fixture.h"

namespace muster::authoring {
namespace {

using testing::HasSubstr;

struct Parsed {
  std::optional<YamlNode> node;
  std::string said;
};

Parsed parse(const std::string& text, const YamlLimits& limits = {}) {
  Reporter reporter(limits);
  const auto file = reporter.add_source("x.yaml", text);
  Parsed parsed;
  parsed.node = parse_yaml(text, file, limits, reporter);
  for (const Problem& problem : reporter.take().list) parsed.said += to_text(problem) + "\n";
  return parsed;
}

TEST(YamlTree, KeepsTheTextOfPlainScalarsAndWhetherTheyWereQuoted) {
  const Parsed parsed = parse("a: 1.10\nb: '1.10'\nc: on\nd: !!str 5\ne: |\n  line\n");
  ASSERT_TRUE(parsed.node) << parsed.said;
  EXPECT_EQ(parsed.node->find("a")->text, "1.10");
  EXPECT_TRUE(parsed.node->find("a")->plain);
  EXPECT_FALSE(parsed.node->find("b")->plain);
  EXPECT_EQ(parsed.node->find("c")->text, "on");
  EXPECT_FALSE(parsed.node->find("d")->plain);
  EXPECT_EQ(parsed.node->find("e")->text, "line\n");
}

TEST(YamlTree, CountsLinesAndColumnsFromOne) {
  const Parsed parsed = parse("a:\n  - b: 5\n");
  const YamlEntry& entry = parsed.node->find("a")->list[0].map[0];
  EXPECT_EQ(entry.key_where.line, 2u);
  EXPECT_EQ(entry.key_where.column, 5u);
  EXPECT_EQ(entry.value.where.column, 8u);
}

TEST(YamlTree, TakesAByteOrderMarkAndWindowsLineEnds) {
  const Parsed parsed = parse(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: 2\r\n");
  ASSERT_TRUE(parsed.node) << parsed.said;
  EXPECT_EQ(parsed.node->find("b")->text, "2");
}

TEST(YamlTree, ReportsEveryDuplicateAndGoesOn) {
  const Parsed parsed = parse("a: 1\na: 2\nb: { c: 1, c: 2 }\n");
  ASSERT_TRUE(parsed.node);
  EXPECT_THAT(parsed.said, HasSubstr("x.yaml:2:1: key 'a' is given twice; the first is on line 1"));
  EXPECT_THAT(parsed.said, HasSubstr("x.yaml:3:12: key 'c' is given twice"));
  EXPECT_EQ(parsed.node->find("a")->text, "1");
}

TEST(YamlTree, TakesTabsThatAreNotIndentation) {
  EXPECT_TRUE(parse("a: 1\t# one\n \t\nb: 'x\ty'\n").node);
}

TEST(YamlTree, RefusesWhatIsLargerThanTheLimits) {
  YamlLimits limits;
  limits.file_bytes = 10;
  EXPECT_THAT(parse("a: 123456789\n", limits).said, HasSubstr("the file has 13 bytes, more than the 10"));
  limits = {};
  limits.nodes = 4;
  EXPECT_THAT(parse("[1, 2, 3, 4]\n", limits).said, HasSubstr("more than 4 values"));
  limits = {};
  limits.depth = 3;
  EXPECT_THAT(parse("[[[[1]]]]\n", limits).said, HasSubstr("nested more than 3 levels"));
  EXPECT_THAT(parse("a: &a [[1]]\nb: [[*a]]\n", limits).said, HasSubstr("nested more than 3 levels"));
}

TEST(YamlTree, ShortensLongLinesAroundTheCaret) {
  const Parsed parsed =
      parse("a: " + std::string(300, 'x') + "\nb: " + std::string(300, ' ') + "*none" + std::string(300, ' ') + "\n");
  EXPECT_THAT(parsed.said, HasSubstr("x.yaml:2:304: "));
  EXPECT_THAT(parsed.said, HasSubstr("| " + std::string(60, ' ') + "^"));
}

TEST(YamlTree, TurnsScalarsIntoValues) {
  const Parsed parsed = parse("[true, 'true', -5, +5, 1.5, 0x10, 1_000, 99999999999999999999, .5, 5., 1e999, null]");
  const model::Tree tree = to_tree(*parsed.node);
  const model::TreeList& list = *tree.list();
  EXPECT_TRUE(list[0].boolean());
  EXPECT_TRUE(list[1].text());
  EXPECT_EQ(*list[2].integer(), -5);
  EXPECT_EQ(*list[3].integer(), 5);
  EXPECT_EQ(*list[4].number(), 1.5);
  EXPECT_TRUE(list[5].text());
  EXPECT_TRUE(list[6].text());
  EXPECT_TRUE(list[7].number());
  EXPECT_TRUE(list[8].text());
  EXPECT_TRUE(list[9].text());
  EXPECT_TRUE(list[10].text());
  EXPECT_TRUE(list[11].null());
}

RC_GTEST_PROP(YamlTree, NeverFailsWithoutAReason, (const std::string& text)) {
  const Parsed parsed = parse(text);
  RC_ASSERT(parsed.node.has_value() || !parsed.said.empty());
}

}  // namespace
}  // namespace muster::authoring
