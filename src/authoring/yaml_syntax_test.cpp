#include "authoring/yaml_syntax.h"

#include <gtest/gtest.h>

#include "authoring/loader_fixture.h"

namespace muster::authoring {
namespace {

constexpr std::string_view kTop = "muster: 1\ntarget: http://a.test\n";

std::string said(std::string_view rest) {
  const std::string text = Files().bad(std::string(kTop) + std::string(rest));
  return text.substr(0, text.find('\n'));
}

TEST(YamlSyntax, ATextThatMeansSomethingToYamlIsToldToBeQuoted) {
  EXPECT_EQ(said("steps:\n  - get: /\n    check:\n      json.total: > 5\n"),
            "test.yaml:6:19: put quotes around a condition that begins with '>': \"> 5\"");
  EXPECT_EQ(said("steps:\n  - get: /\n    check: { status: !=500 }\n"),
            "test.yaml:5:22: put quotes around a condition that begins with '!': \"!=500\"");
  EXPECT_EQ(said("steps:\n  - get: @a\n"), "test.yaml:4:10: put quotes around a text that begins with '@': \"@a\"");
  EXPECT_EQ(said("steps:\n  - get: %a\n"), "test.yaml:4:10: put quotes around a text that begins with '%': \"%a\"");
}

TEST(YamlSyntax, ATextThatMeansSomethingInAFlowIsToldToBeQuoted) {
  EXPECT_EQ(said("steps: [{get: /a?x=1}]\n"),
            "test.yaml:3:15: inside { } and [ ] a text with '?' needs quotes: \"/a?x=1\"");
  EXPECT_EQ(said("steps: [{get: /m-${env.X}}]\n"),
            "test.yaml:3:15: inside { } and [ ] a text with ${…} needs quotes: \"/m-${env.X}\"");
  EXPECT_EQ(said("steps: [{get: ${env.X}}]\n"),
            "test.yaml:3:15: inside { } and [ ] a text with ${…} needs quotes: \"${env.X}\"");
}

TEST(YamlSyntax, AnUnclosedBracketIsShownWhereItOpens) {
  EXPECT_EQ(said("steps:\n  - { get: \"/{\"\n  - { get: /b }\n"), "test.yaml:4:5: this '{' is not closed");
  EXPECT_EQ(said("steps: [ { get: / }\n"), "test.yaml:3:8: this '[' is not closed");
}

TEST(YamlSyntax, BracketsWithinTextAreNotTakenForOpenOnes) {
  EXPECT_EQ(said("steps:\n  - get: /a[0\n    check: { status: 200 \n"), "test.yaml:5:12: this '{' is not closed");
}

TEST(YamlSyntax, AForeignCommentIsNamed) {
  EXPECT_EQ(said("// steps\nsteps: [ { get: / } ]\n"), "test.yaml:3:1: comments begin with '#' in YAML, not with '//'");
}

TEST(YamlSyntax, AMissingSpaceAfterAColonIsNotBlamedOnTheNextLine) {
  EXPECT_EQ(said("name:x\nsteps: [ { get: / } ]\n"), "test.yaml:3:6: a space is missing after 'name:'");
}

TEST(YamlSyntax, ANoBreakSpaceIsNamedWhereItMattersOnly) {
  EXPECT_EQ(said("name:\u00A0x\nsteps: [ { get: / } ]\n"),
            "test.yaml:3:6: a no-break space after ':'; YAML takes only plain spaces");
  EXPECT_EQ(said("name: a\u00A0b\nsteps: [ { get: / } ]\n"), "loaded");
}

TEST(YamlSyntax, AnyPlaceAndMessageOfTheParserIsTakenCalmly) {
  for (const char* message : {"illegal map value", "end of map flow not found", "unknown escape character: x", "?"}) {
    for (std::size_t at = 0; at < 5; ++at) {
      EXPECT_FALSE(explain_syntax("a: {\n\n", {at, at * 7, message}).message.empty());
      EXPECT_FALSE(explain_syntax("", {at, at * 7, message}).message.empty());
    }
  }
}

}  // namespace
}  // namespace muster::authoring
