// Runs every example of docs/expressions.md: what the page says is what happens.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "authoring/compare.h"
#include "authoring/expression.h"
#include "authoring/test_scope.h"
#include "authoring/text_template.h"
#include "authoring/threshold_parser.h"

namespace muster::authoring {
namespace {

using model::Value;

struct Example {
  int line = 0;
  std::string left;
  std::string right;
};

// The lines of the page's fenced blocks, by the word after the fence.
std::map<std::string, std::vector<Example>> read_page() {
  std::map<std::string, std::vector<Example>> blocks;
  std::ifstream file(std::string(MUSTER_TEST_DATA) + "/../../docs/expressions.md");
  std::string block;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.starts_with("```")) {
      block = block.empty() ? line.substr(3) : "";
      continue;
    }
    if (block.empty()) continue;
    const std::string_view separator = block == "given" ? " = " : " → ";
    const std::size_t at = line.find(separator);
    EXPECT_NE(at, std::string::npos) << "line " << number << " of docs/expressions.md";
    if (at == std::string::npos) continue;
    blocks[block].push_back({number, line.substr(0, at), line.substr(at + separator.size())});
  }
  return blocks;
}

class Documentation : public testing::Test {
 protected:
  void SetUp() override {
    blocks_ = read_page();
    for (const Example& given : blocks_["given"]) {
      if (given.right.starts_with('{')) {
        scope_.add(given.left, Value::json(given.right));
      } else {
        scope_.add(given.left, Expression::compile(given.right, scope_).value().evaluate({}));
      }
    }
  }

  Value evaluate(const std::string& text, int line) {
    auto expression = Expression::compile(text, scope_);
    EXPECT_TRUE(expression.has_value()) << "line " << line << ": " << expression.error().message;
    if (!expression) return {};
    // Constant text lives in its expression.
    return compiled_.emplace_back(std::move(*expression)).evaluate(scope_.evaluation());
  }

  std::map<std::string, std::vector<Example>> blocks_;
  TestScope scope_;
  std::deque<Expression> compiled_;
};

TEST_F(Documentation, ExamplesOfExpressionsAreTrue) {
  ASSERT_GT(blocks_["text"].size(), 100u);
  for (const Example& example : blocks_["text"]) {
    const Value value = evaluate(example.left, example.line);
    if (example.right == "missing") {
      EXPECT_TRUE(value.missing()) << "line " << example.line << ": " << shown(value);
      continue;
    }
    const Value expected = evaluate(example.right, example.line);
    EXPECT_TRUE(equal(value, expected) && value.numeric() == expected.numeric())
        << "line " << example.line << ": " << example.left << " is " << shown(value);
  }
}

TEST_F(Documentation, ExamplesOfChecksAreTrue) {
  ASSERT_GT(blocks_["check"].size(), 15u);
  for (const Example& example : blocks_["check"]) {
    const std::size_t colon = example.left.find(": ");
    ASSERT_NE(colon, std::string::npos) << example.left;
    const auto check = Expression::compile_check(example.left.substr(0, colon), example.left.substr(colon + 2), scope_);
    ASSERT_TRUE(check.has_value()) << "line " << example.line << ": " << check.error().message;
    EXPECT_EQ(check->holds(scope_.evaluation()), example.right == "true") << "line " << example.line;
  }
}

TEST_F(Documentation, ExamplesOfTemplatesAreTrue) {
  ASSERT_GT(blocks_["template"].size(), 3u);
  for (const Example& example : blocks_["template"]) {
    const auto made = TextTemplate::compile(example.left, scope_, Escape::kNone);
    ASSERT_TRUE(made.has_value()) << "line " << example.line << ": " << made.error().message;
    std::string out;
    ASSERT_TRUE(made->render(scope_.evaluation(), out).has_value());
    EXPECT_EQ(out, example.right) << "line " << example.line;
  }
}

TEST_F(Documentation, ExamplesOfThresholdsAreTrue) {
  ASSERT_GT(blocks_["threshold"].size(), 5u);
  constexpr std::array<std::string_view, 6> kSymbols{"<", "<=", ">", ">=", "==", "!="};
  for (const Example& example : blocks_["threshold"]) {
    const auto parsed = parse_threshold(example.left);
    ASSERT_TRUE(parsed.has_value()) << "line " << example.line << ": " << parsed.error().message;
    EXPECT_EQ(fmt::format("{} {} {} {}", parsed->metric, parsed->aggregate,
                          kSymbols[static_cast<std::size_t>(parsed->comparison)], parsed->bound),
              example.right);
  }
}

}  // namespace
}  // namespace muster::authoring
