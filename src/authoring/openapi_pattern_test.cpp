#include "authoring/openapi_pattern.h"

#include <gtest/gtest.h>

#include <regex>

namespace muster::authoring {
namespace {

TEST(OpenApiPattern, IsMatchedByTheTextThatIsMade) {
  for (const char* pattern :
       {"^[A-Z]{3}$", "^\\d{4}-\\d{2}-\\d{2}$", "[a-z0-9]+(-[a-z0-9]+)*", "^(?:red|green)$", "^#[0-9a-fA-F]{6}$",
        "^\\+?[1-9]\\d{1,14}$", "^[^@]+@[^@]+\\.[a-z]{2,}$", "x|y", "^$", "^a$|^b$", "^.{2,5}$", "^[\\w.-]+$", "a*?b",
        "^(a|b(c|d)){2}$", "^[-a]$", "^\\$\\{x\\}$", "", "^\\S\\s\\W\\D$"}) {
    const auto made = matching_text(pattern, 0, 1000);
    ASSERT_TRUE(made) << pattern;
    EXPECT_TRUE(std::regex_search(*made, std::regex(pattern))) << pattern << " makes '" << *made << "'";
  }
  EXPECT_EQ(matching_text("^[A-Z]{3}$", 0, 1000), "AAA");
}

TEST(OpenApiPattern, GrowsToTheLengthThatIsAskedFor) {
  EXPECT_EQ(matching_text("^[a-z]+$", 5, 8), "aaaaa");
  EXPECT_EQ(matching_text("^x(ab)*$", 4, 6), "xabab");
  EXPECT_EQ(matching_text("^[a-z]{2}$", 5, 8), std::nullopt);
  EXPECT_EQ(matching_text("^[a-z]{9}$", 0, 8), std::nullopt);
}

TEST(OpenApiPattern, IsGivenUpWhereItIsNotSimple) {
  for (const char* pattern : {"(?=a)b", "(a)\\1", "\\p{L}", "\\bword", "a^b", "^a$b", "(", "[a", "a{", "a{3,1}", "*",
                              ")", "[b-a]", "\\", "(a$)b", "a{2000}", "(?<n>a)", "[]", "\\u0041"}) {
    EXPECT_EQ(matching_text(pattern, 0, 1000), std::nullopt) << pattern;
  }
  EXPECT_EQ(matching_text(std::string(5000, '('), 0, 1000), std::nullopt);
  std::string deep = "a";
  for (int i = 0; i < 20; ++i) deep = "(" + deep + "){100}";
  EXPECT_EQ(matching_text(deep, 0, 1000), std::nullopt);
}

}  // namespace
}  // namespace muster::authoring
