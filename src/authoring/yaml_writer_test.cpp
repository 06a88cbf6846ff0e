#include "authoring/yaml_writer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "authoring/yaml_tree.h"
#include "base/utf8.h"

namespace muster::authoring {
namespace {

std::optional<YamlNode> read(const std::string& yaml) {
  const YamlLimits limits;
  Reporter reporter(limits);
  const auto file = reporter.add_source("made.yaml", yaml);
  auto node = parse_yaml(yaml, file, limits, reporter);
  if (node && reporter.clean()) return node;
  for (const Problem& problem : reporter.take().list) ADD_FAILURE() << to_text(problem) << "\n" << yaml;
  return std::nullopt;
}

// Texts that have caught writers of YAML before.
std::vector<std::string> split(std::string_view all, char divider) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = all.find(divider);
    parts.emplace_back(all.substr(0, end));
    if (end == std::string_view::npos) return parts;
    all.remove_prefix(end + 1);
  }
}

const std::vector<std::string>& tricky() {
  static const std::vector<std::string> kTexts = [] {
    std::vector<std::string> all = split(
        "| |  lead|trail |yes|no|null|~|true|Off|y|12|-1.5e3|0x1F|1_000|007|.5|12:30:45|2001-01-01|- a|a: b|a #b|#|? "
        "x|{a}|"
        "[a]|&a|*a|!x|>|%a|@a|`a|'|\"|\\|\\n|a\nb|a\r\nb|\n|\na|a\n\n| \n |a\tb|\ta|---|...|<<|=|a,b|ends:|a:\u00A0z|"
        "\u00A0|\uFEFFx|\u2028|\u0085x|${x}|$${x}|{{name}}|\x01\x7F\x1B|\U0001F600|\uFFFF|a\n  b\nc|a\n\tb|line\n# no|"
        "a\n---\nb\n|//|/x?a=1&b=%20|a: ",
        '|');
    all.emplace_back("|");
    all.emplace_back("key: |\n  x");
    all.emplace_back("nul\0in", 6);
    return all;
  }();
  return kTexts;
}

rc::Gen<std::string> any_text() {
  const auto pieces = rc::gen::container<std::vector<std::string>>(rc::gen::oneOf(
      rc::gen::elementOf(tricky()),
      rc::gen::map(rc::gen::inRange<char>(1, 127), [](char c) { return std::string(1, c); }),
      rc::gen::element<std::string>("$", "{", "}", ":", " ", "\n", "\r", "\"", "'", "#", "-", "é", "中")));
  return rc::gen::map(pieces, [](const std::vector<std::string>& all) {
    std::string joined;
    for (const std::string& each : all) joined += each;
    return joined;
  });
}

void expect_back(const std::string& text) {
  YamlOut root = YamlOut::of_map();
  root.set("value", YamlOut::of(text));
  root.set("list", YamlOut::of_list().add(YamlOut::of(text)).add(YamlOut::of_map().set("in", YamlOut::of(text))));
  const std::string yaml = write_yaml(root, "head\nof two lines");
  const auto node = read(yaml);
  ASSERT_TRUE(node) << yaml;
  ASSERT_NE(node->find("value"), nullptr) << yaml;
  EXPECT_TRUE(node->find("value")->is_scalar()) << yaml;
  EXPECT_EQ(node->find("value")->text, text) << yaml;
  EXPECT_NE(to_tree(*node->find("value")).text(), nullptr) << "became another type: " << yaml;
  ASSERT_EQ(node->find("list")->list.size(), 2u) << yaml;
  EXPECT_EQ(node->find("list")->list[0].text, text) << yaml;
  EXPECT_EQ(node->find("list")->list[1].find("in")->text, text) << yaml;
}

TEST(YamlWriter, GivesBackTextsThatLookLikeSomethingElse) {
  for (const std::string& text : tricky()) expect_back(text);
}

TEST(YamlWriter, KeepsPlainWordsPlain) {
  EXPECT_EQ(yaml_scalar("/cart?id=7&x=%20"), "/cart?id=7&x=%20");
  EXPECT_EQ(yaml_scalar("https://shop.test:8443/"), "https://shop.test:8443/");
  EXPECT_EQ(yaml_scalar("yes"), "\"yes\"");
  EXPECT_EQ(yaml_scalar("12"), "\"12\"");
  EXPECT_EQ(yaml_scalar("a b"), "\"a b\"");
}

TEST(YamlWriter, WritesLongTextsAsBlocks) {
  YamlOut root = YamlOut::of_map();
  root.set("body", YamlOut::of("{\n  \"a\": 1\n}\n"));
  EXPECT_EQ(write_yaml(root), "body: |\n  {\n    \"a\": 1\n  }\n");
}

TEST(YamlWriter, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(yaml_scalar("a\xFFz"), "\"a\xEF\xBF\xBDz\"");
}

TEST(YamlWriter, WritesNestedListsMapsAndComments) {
  YamlOut root = YamlOut::of_map();
  YamlOut inner = YamlOut::of_list();
  inner.add(YamlOut::bare("1")).add(YamlOut::of_list().add(YamlOut::bare("2"))).add(YamlOut::of_map());
  root.set("a", std::move(inner), "why").set("b", YamlOut::of_list());
  EXPECT_EQ(write_yaml(root), "# why\na:\n  - 1\n  -\n    - 2\n  - {}\nb: []\n");
  const auto node = read(write_yaml(root));
  ASSERT_TRUE(node);
  EXPECT_EQ(node->find("a")->list[1].list[0].text, "2");
}

RC_GTEST_PROP(YamlWriterProperty, AnyTextComesBack, ()) {
  expect_back(*any_text());
}

RC_GTEST_PROP(YamlWriterProperty, AnyTextComesBackAsAKey, ()) {
  const std::string text = *any_text();
  RC_PRE(text.size() < 300);
  YamlOut root = YamlOut::of_map();
  root.set(text, YamlOut::of("v"));
  const auto node = read(write_yaml(root));
  RC_ASSERT(node.has_value());
  RC_ASSERT(node->map.size() == 1u);
  RC_ASSERT(node->map[0].key == text);
}

}  // namespace
}  // namespace muster::authoring
