#include <gtest/gtest.h>

#include "authoring/expression.h"
#include "authoring/test_scope.h"

namespace muster::authoring {
namespace {

using model::Value;

class CheckTest : public testing::Test {
 protected:
  CheckTest() {
    scope_.add("status", Value::of(std::int64_t{200}));
    scope_.add("word", Value::of("in stock"));
    scope_.add("gone", Value());
    scope_.add("id", Value::of("42"));
    scope_.add("date", Value::of("2024-01-02"));
    scope_.add("phone", Value::of("555-1234"));
    scope_.add("ratio", Value::of("16/9"));
    scope_.add("sum", Value::of("'a' + 'b'"));
    scope_.add("lists", Value::of("[1] + [2]"));
  }

  bool holds(std::string_view subject, std::string_view condition) {
    const auto made = Expression::compile_check(subject, condition, scope_);
    EXPECT_TRUE(made.has_value()) << condition << ": " << made.error().message;
    return made && made->holds(scope_.evaluation());
  }

  ExpressionError problem(std::string_view subject, std::string_view condition) {
    const auto made = Expression::compile_check(subject, condition, scope_);
    EXPECT_FALSE(made.has_value()) << condition;
    return made ? ExpressionError{} : made.error();
  }

  TestScope scope_;
};

TEST_F(CheckTest, TextNeedsNoQuotes) {
  EXPECT_TRUE(holds("word", "'in stock'"));
  EXPECT_TRUE(holds("word", "contains stock"));
  EXPECT_TRUE(holds("word", "contains 'n s'"));
  EXPECT_TRUE(holds("word", "matches ^in\\s+stock$"));
  EXPECT_TRUE(holds("word", "matches '^in'"));
  EXPECT_FALSE(holds("word", "out of stock"));
  EXPECT_FALSE(holds("word", ""));
  EXPECT_FALSE(holds("word", "- no number"));
  EXPECT_FALSE(holds("word", "existsnot"));
}

TEST_F(CheckTest, NumbersAndHolesKeepTheirTypes) {
  EXPECT_TRUE(holds("status", "  200 "));
  EXPECT_TRUE(holds("status", "2${0}0"));
  EXPECT_TRUE(holds("status", "${status}"));
  EXPECT_TRUE(holds("id", "${id}"));
  EXPECT_TRUE(holds("id", "4${1 + 1}"));
  EXPECT_TRUE(holds("status", "== ${100 + 100}"));
  EXPECT_TRUE(holds("status", "!= 5"));
  EXPECT_TRUE(holds("status + 1", "201"));
  EXPECT_TRUE(holds("status", "in[200]"));
  EXPECT_FALSE(holds("status", "-200"));
  EXPECT_FALSE(holds("gone", "${gone}"));
}

TEST_F(CheckTest, ALiteralIsNotWorkedOut) {
  EXPECT_TRUE(holds("date", "2024-01-02"));
  EXPECT_FALSE(holds("2021", "2024-01-02"));
  EXPECT_TRUE(holds("phone", "555-1234"));
  EXPECT_TRUE(holds("ratio", "16/9"));
  EXPECT_FALSE(holds("0 - 1", "5-6"));
  EXPECT_TRUE(holds("sum", "'a' + 'b'"));
  EXPECT_FALSE(holds("'ab'", "'a' + 'b'"));
  EXPECT_TRUE(holds("sum", "contains 'a' + 'b'"));
  EXPECT_TRUE(holds("lists", "[1] + [2]"));
}

TEST_F(CheckTest, ALiteralIsANumberATextAListOrAWord) {
  EXPECT_TRUE(holds("0 - 5", "-5"));
  EXPECT_TRUE(holds("0.3", "300ms"));
  EXPECT_TRUE(holds("0.5", "50%"));
  EXPECT_TRUE(holds("0 - 10000", "-10KB"));
  EXPECT_TRUE(holds("[1, 3]", "[1, 1 + 2]"));
  EXPECT_TRUE(holds("(1 == 1)", "true"));
  EXPECT_TRUE(holds("(1 == 2)", "false")) << "the left side is false, and that is what is asked";
  EXPECT_TRUE(holds("null", "null"));
  EXPECT_TRUE(holds("201", "== status + 1")) << "behind a comparison stands any expression";
}

TEST_F(CheckTest, NothingIsTrueOfWhatIsMissingButThatItIs) {
  for (std::string_view condition : {"exists", "5", "!= 5", "< 5", "contains a", "matches .*", "in [1]"}) {
    EXPECT_FALSE(holds("gone", condition)) << condition;
  }
  EXPECT_TRUE(holds("gone", "not exists"));
}

TEST_F(CheckTest, AnOperatorThatIsNoneIsNoText) {
  struct Case {
    std::string_view condition;
    std::string_view meant;
  };
  const Case cases[] = {{"=> 200", ">= 200"}, {"=200", "== 200"}, {"= 200", "== 200"},     {"=< 9", "<= 9"},
                        {"=! 5", "!= 5"},     {" <> 3", "!= 3"},  {"=~ ^a", "matches ^a"}, {"= ${id}", "== ${id}"}};
  for (const Case& each : cases) {
    const ExpressionError wrong = problem("status", each.condition);
    EXPECT_NE(wrong.message.find("write \"" + std::string(each.meant) + "\""), std::string::npos) << wrong.message;
    EXPECT_FALSE(wrong.in_subject);
    EXPECT_EQ(wrong.offset, each.condition.find_first_not_of(' '));
  }
  EXPECT_TRUE(holds("'=> 200'", "'=> 200'"));
  EXPECT_TRUE(holds("'='", "="));
  EXPECT_TRUE(holds("status", "== 200"));
}

TEST_F(CheckTest, ErrorsTellWhichSideIsWrong) {
  EXPECT_TRUE(problem("statsu", "200").in_subject);
  EXPECT_NE(problem("statsu", "200").message.find("did you mean 'status'"), std::string::npos);
  const ExpressionError wrong = problem("status", "< foo");
  EXPECT_FALSE(wrong.in_subject);
  EXPECT_EQ(wrong.offset, 2u);
  EXPECT_EQ(problem("status", "matches (").offset, 8u);
  EXPECT_EQ(problem("status", "in [1, foo]").offset, 7u);
  EXPECT_EQ(problem("status", "a ${foo}").offset, 4u);
  EXPECT_EQ(problem("status", "a ${foo").offset, 2u);
  EXPECT_NE(problem("word", "in stock").message.find("quote it: '\"in stock\"'"), std::string::npos);
  EXPECT_NE(problem("word", "exists not").message.find("nothing may follow"), std::string::npos);
  problem("word", "contains");
  problem("word", "matches");
  problem("word", "[1, 2");
  problem("word", "'open");
  problem("word", "<");
  problem("word", "< 5 < 6");
}

}  // namespace
}  // namespace muster::authoring
