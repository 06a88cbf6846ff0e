#include "authoring/expression.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <deque>
#include <new>
#include <set>
#include <string>

#include "authoring/options.h"
#include "authoring/test_scope.h"

namespace muster::authoring {
namespace {

using model::Value;

class ExpressionTest : public testing::Test {
 protected:
  ExpressionTest() {
    scope_.add("n", Value::of(std::int64_t{7}));
    scope_.add("text", Value::of("hello"));
    scope_.add("gone", Value());
    scope_.add("nothing", Value::null());
    scope_.add("yes", Value::of(true));
    scope_.add("get-user",
               Value::json(R"({"id": 1, "deep": {"list": [1, 2, 3]}, "esc\"aped": "a\nb\u00e9\ud83d\ude00"})"));
    scope_.add("raw", Value::of(R"({"inside": "text"})"));
  }

  std::string result(std::string_view text) {
    auto made = Expression::compile(text, scope_);
    if (!made) return "error: " + made.error().message;
    return shown(compiled_.emplace_back(std::move(*made)).evaluate(scope_.evaluation()));
  }

  ExpressionError problem(std::string_view text) {
    const auto made = Expression::compile(text, scope_);
    EXPECT_FALSE(made.has_value()) << text;
    return made ? ExpressionError{} : made.error();
  }

  bool constant(std::string_view text) { return Expression::compile(text, scope_).value().constant(); }

  TestScope scope_;
  std::deque<Expression> compiled_;
};

TEST_F(ExpressionTest, ValuesKeepTheirTypes) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"n", "7"},
      {"n / 2", "3.5"},
      {"text", "\"hello\""},
      {"gone", "missing"},
      {"nothing", "null"},
      {"yes", "true"},
      {"[n, text, gone, nothing, [1]]", "[7,\"hello\",null,null,[1]]"},
      {"get-user.deep", "{\"list\": [1, 2, 3]}"},
      {"get-user.deep.list[-3]", "1"},
      {"get-user.deep.list[-4]", "missing"},
      {"get-user.deep.list.x", "missing"},
      {"get-user.id.x", "missing"},
      {"get-user[\"esc\\\"aped\"]", "\"a\\nbé😀\""},
      {"raw.inside", "\"text\""},
      {"n.inside", "missing"},
      {"vu + iteration", "8"},
      {"vu() * 2", "6"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(result(text), expected) << text;
}

TEST_F(ExpressionTest, TheSmallestWholeNumberIsExactAndOneBelowItIsADecimalNumber) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"-9223372036854775808", "-9223372036854775808"},      {"- 9223372036854775808 + 1", "-9223372036854775807"},
      {"n - -9223372036854775808", "9.223372036854776e+18"}, {"--9223372036854775808", "9.223372036854776e+18"},
      {"9223372036854775808", "9.223372036854776e+18"},      {"-9223372036854775809", "-9.223372036854776e+18"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(result(text), expected) << text;
}

TEST_F(ExpressionTest, ArithmeticNeverOverflowsSilently) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"9223372036854775807 + 1", "9.223372036854776e+18"},
      {"-9223372036854775807 - 2", "-9.223372036854776e+18"},
      {"9223372036854775807 * n", "6.456360425798343e+19"},
      {"(-9223372036854775807 - 1) / -1", "9.223372036854776e+18"},
      {"(-9223372036854775807 - 1) % -1", "0"},
      {"abs(-9223372036854775807 - 1)", "9.223372036854776e+18"},
      {"-(-9223372036854775807 - 1)", "9.223372036854776e+18"},
      {"1e308 * 10", "missing"},
      {"n % 0", "missing"},
      {"1.5 % 0", "missing"},
      {"yes + 1", "missing"},
      {"nothing + 1", "missing"},
      {"text * 2", "missing"},
      {"nothing + 'x'", "\"nullx\""},
      {"-text", "missing"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(result(text), expected) << text;
}

TEST_F(ExpressionTest, FunctionsRefuseWhatMakesNoSense) {
  for (std::string_view text : {"random(5, 1)",
                                "random('a', 2)",
                                "number('x')",
                                "number(null)",
                                "int('')",
                                "min(1, 'x')",
                                "round(1.5, 99)",
                                "substr('abc', 'x')",
                                "substr('abc', 0, -1)",
                                "regex('a', 'a', 5)",
                                "regex('a', '(b)?a', 1)",
                                "regex('a', 'a', -1)",
                                "regex('a', 'a', 'x')",
                                "base64decode('abcde')",
                                "length(null)",
                                "upper(gone)",
                                "regex(gone, 'a')",
                                "regex('a', gone)",
                                "regex('a', text + '(')",
                                "hmac(text, 'k', 'x')",
                                "abs('x')",
                                "sha1('a', text)",
                                "json(gone)"}) {
    EXPECT_EQ(result(text), "missing") << text;
  }
}

TEST_F(ExpressionTest, PatternsMayBeMadeAtRunTime) {
  EXPECT_EQ(result("text matches 'h' + 'e'"), "true");
  EXPECT_EQ(result("text matches text"), "true");
  EXPECT_EQ(result("text matches text + '('"), "false");
  EXPECT_EQ(result("gone matches 'x'"), "false");
  EXPECT_EQ(result("regex(text, 'l' + '+')"), "\"ll\"");
  EXPECT_EQ(result("n matches '^7$'"), "true");
}

TEST_F(ExpressionTest, WordsOfOperatorsBindAsTheyRead) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"not n == 7", "false"},          {"!n == 7", "false"},         {"not not yes", "true"},
      {"!text exists", "false"},        {"1 in [1] == true", "true"}, {"yes == not yes", "false"},
      {"yes or gone and gone", "true"}, {"gone ?? n + 1", "8"},       {"gone ?? nothing", "null"},
      {"n not in [1, 2]", "true"},      {"gone not in [1]", "true"},  {"gone in [1]", "false"},
      {"'e' in text", "true"},          {"7 in [text, n]", "true"},   {"text contains gone", "false"},
      {"n contains 7", "false"},        {"'a7' contains n", "true"},  {"'true' contains true", "false"},
      {"'a1.5' contains 1.5", "true"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(result(text), expected) << text;
}

TEST_F(ExpressionTest, ErrorsTellThePlaceAndTheWayOut) {
  struct Case {
    std::string_view text;
    std::size_t offset;
    std::string_view says;
  };
  const Case cases[] = {
      {"", 0, "expected a value"},
      {"1 +", 3, "found the end"},
      {"(1 + 2", 0, "this '(' is not closed"},
      {"[1, 2", 5, "expected ',' or ']'"},
      {"n = 7", 2, "write '=='"},
      {"n & 7", 2, "write '&&'"},
      {"1 < 2 < 3", 6, "do not chain"},
      {"txt == 1", 0, "did you mean 'text'?"},
      {"n-1", 0, "put spaces around '-'"},
      {"uper('a')", 0, "did you mean 'upper'?"},
      {"upper ('a')", 0, "directly after its name"},
      {"upper()", 0, "takes 1 argument, here are 0"},
      {"random(1)", 0, "takes no or 2 arguments"},
      {"uuid(1)", 0, "takes no arguments"},
      {"substr('a')", 0, "takes 2 to 3 arguments"},
      {"1 + hmac('sha257', 'k', 't')", 4, "did you mean 'sha256'?"},
      {"sha1('a', 'hexx')", 0, "did you mean 'hex'?"},
      {"'abc", 0, "is not closed"},
      {"'a\\q'", 2, "unknown escape"},
      {"'\\xg0'", 1, "two hexadecimal digits"},
      {"'\\u12'", 1, "four hexadecimal digits"},
      {"'\\ud800'", 1, "surrogate"},
      {"'\\ud800\\u0041'", 1, "surrogate"},
      {"n + .5", 4, "write 0.5"},
      {"5parsecs", 0, "is no number with a unit"},
      {"1e999", 0, "too large"},
      {"99999999999999h", 0, "no number with a unit"},
      {"n.", 1, "must follow '.'"},
      {"get-user[x]", 9, "expected an index or a quoted name"},
      {"get-user[1", 8, "this '[' is not closed"},
      {"get-user[-'a']", 10, "expected an index"},
      {"${n}", 0, "names stand without ${"},
      {"n ~ 1", 2, "'~' has no meaning"},
      {"n \x01", 2, "0x01"},
      {"text matches '('", 13, "not a regular expression"},
      {"regex(text, '(')", 0, "not a regular expression"},
      {"n not 5", 6, "after 'not'"},
      {"and", 0, "expected a value"},
      {"n n", 2, "expected an operator or the end"},
      {"n 'a'", 2, "found 'a'"},
  };
  for (const Case& each : cases) {
    const ExpressionError error = problem(each.text);
    EXPECT_EQ(error.offset, each.offset) << each.text << ": " << error.message;
    EXPECT_NE(error.message.find(each.says), std::string::npos) << each.text << ": " << error.message;
  }
}

TEST_F(ExpressionTest, ConstantPartsAreWorkedOutOnce) {
  for (std::string_view text :
       {"1 + 2", "'a' + 'b'", "upper('x')", "1 in [1, 2]", "[1, [2]]", "sha256('x')", "'a' matches 'b'",
        "regex('ab', 'b')", "1 / 0", "length([1, 2])", "-5", "not true", "null ?? 1"}) {
    EXPECT_TRUE(constant(text)) << text;
  }
  for (std::string_view text : {"n", "random()", "uuid()", "counter()", "now()", "time()", "pick(1)", "[n]", "vu",
                                "upper(text)", "text matches 'a'"}) {
    EXPECT_FALSE(constant(text)) << text;
  }
}

TEST_F(ExpressionTest, NestingAndLengthAreLimited) {
  const auto nested = [](std::size_t levels) { return std::string(levels, '(') + "n" + std::string(levels, ')'); };
  EXPECT_EQ(result(nested(60)), "7");
  EXPECT_NE(problem(nested(70)).message.find("nested deeper"), std::string::npos);
  EXPECT_NE(problem(std::string(200, '[')).message.find("nested deeper"), std::string::npos);
  problem(std::string(200, '-') + "n");
  problem(std::string(200, '!') + "n");
  std::string nots;
  std::string mixed = "n";
  for (int at = 0; at < 200; ++at) {
    nots += "not ";
    mixed += " - n";
  }
  problem(nots + "n");
  EXPECT_NE(problem(mixed).message.find("nested deeper"), std::string::npos);
  EXPECT_NE(problem(std::string(kExpressionLimits.text_bytes + 1, ' ')).message.find("at most"), std::string::npos);
}

TEST_F(ExpressionTest, LongChainsOfOneOperatorStayFlat) {
  std::string sum = "n";
  std::string all = "yes";
  for (int at = 0; at < 500; ++at) {
    sum += " + n";
    all += " && yes";
  }
  EXPECT_EQ(result(sum), "3507");
  EXPECT_EQ(result(all), "true");
}

TEST_F(ExpressionTest, TextsThatGrowWithoutEndBecomeMissing) {
  const std::string many = "'" + std::string(3000, 'a') + "'";
  EXPECT_EQ(result("length(replace(" + many + ", 'a', " + many + "))"), "9000000");
  EXPECT_EQ(result("replace(replace(" + many + ", 'a', 'aaaa'), 'a', " + many + ") exists"), "false");
}

TEST_F(ExpressionTest, CounterAndRandomComeFromTheEvaluation) {
  EXPECT_EQ(result("counter()"), "1");
  EXPECT_EQ(result("counter() + counter()"), "5");
  EXPECT_EQ(result("now()"), "1000000000");
  EXPECT_EQ(result("time()"), "\"2001-09-09T01:46:40Z\"");
  EXPECT_EQ(result("time('%Y/%m')"), "\"2001/09\"");
  EXPECT_EQ(result("time('')"), "\"\"");
  EXPECT_EQ(result("time('" + std::string(300, 'x') + "')"), "missing");
  std::set<std::string> picked;
  for (int at = 0; at < 100; ++at) picked.insert(result("pick('a', 'b', 'c')"));
  EXPECT_EQ(picked.size(), 3u);
  EXPECT_EQ(result("random(-9223372036854775807 - 1, 9223372036854775807) exists"), "true");
  EXPECT_EQ(result("uuid() matches '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$'"), "true");
}

TEST_F(ExpressionTest, TheTimeInSecondsDoesNotDependOnTheTimeZone) {
  const char* const before = std::getenv("TZ");
  const std::string kept = before != nullptr ? before : "";
  setenv("TZ", "XYZ-5", 1);  // five hours ahead
  tzset();
  EXPECT_EQ(result("time('%s')"), "\"1000000000\"");
  EXPECT_EQ(result("time('<%s %H:%M>%s%%s%')"), "\"<1000000000 01:46>1000000000%s%\"");
  std::string many;
  for (int at = 0; at < 100; ++at) many += "%s";
  EXPECT_EQ(result("time('" + many + "')"), "missing") << "longer than a time can be";
  if (before != nullptr) {
    setenv("TZ", kept.c_str(), 1);
  } else {
    unsetenv("TZ");
  }
  tzset();
}

TEST_F(ExpressionTest, PathsAreWrittenAsTheyAreRead) {
  EXPECT_EQ(to_text(Path{"catalog", "json", "items", std::int64_t{0}, "id"}), "catalog.json.items[0].id");
  EXPECT_EQ(to_text(Path{"a", "odd \"name\"", std::int64_t{-1}}), "a[\"odd \\\"name\\\"\"][-1]");
  EXPECT_EQ(to_text(Path{"header", "x-id"}), "header.x-id");
  EXPECT_EQ(to_text(Path{"a", "1x", ""}), "a[\"1x\"][\"\"]");
}

// What may not touch the heap in steady state; digests do so inside OpenSSL.
TEST_F(ExpressionTest, EvaluationUsesOnlyTheArenaOnceItIsWarm) {
  const std::string_view text =
      "upper(text) + '/' + get-user.deep.list[1] + uuid() + replace(text, 'l', 'L') + base64(text) + "
      "regex(text, 'h(.)') + json([n, text]) + between(text, 'h', 'o') + urlencode(text) + time() + length(text)";
  const auto made = Expression::compile(text, scope_);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  base::BlockPool pool;
  base::Arena arena(pool);
  Evaluation evaluation = scope_.evaluation();
  evaluation.arena = &arena;
  std::set<const void*> blocks;
  // The same blocks come back each round: nothing but the pool's memory holds the results.
  std::size_t first_rounds = 0;
  for (int round = 0; round < 50; ++round) {
    blocks.insert(made->evaluate(evaluation).text().data());
    arena.reset();
    if (round == 10) first_rounds = blocks.size();
  }
  EXPECT_EQ(blocks.size(), first_rounds);
}

RC_GTEST_PROP(ExpressionProperty, NoTextCrashesTheParser, (const std::string& text)) {
  TestScope scope;
  scope.add("n", Value::of(std::int64_t{1}));
  const auto made = Expression::compile(text, scope);
  if (made) {
    static_cast<void>(made->evaluate(scope.evaluation()));
  } else {
    RC_ASSERT(made.error().offset <= text.size());
    RC_ASSERT(!made.error().message.empty());
  }
}

RC_GTEST_PROP(ExpressionProperty, NoSequenceOfWordsCrashesTheParser, ()) {
  static const std::vector<std::string> kWords{
      "n",  "1",  "'a'", "(",   ")",  "[", "]", ",",  "+",  "-",  "*",    "/",      "%",        "==",      "<",
      "??", "||", "and", "not", "in", "!", ".", "1%", "5s", "x.", "max(", "regex(", "contains", "matches", "exists"};
  const auto chosen = *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(kWords));
  std::string text;
  for (const std::string& word : chosen) text += word + " ";
  TestScope scope;
  scope.add("n", Value::of(std::int64_t{1}));
  const auto made = Expression::compile(text, scope);
  if (made) static_cast<void>(made->evaluate(scope.evaluation()));
}

RC_GTEST_PROP(ExpressionProperty, TextWrittenAsJsonReadsBack, (const std::string& text)) {
  std::string quoted = "\"";
  append_json_escaped(quoted, text);
  quoted += '"';
  TestScope scope;
  const auto made = Expression::compile(quoted, scope);
  RC_ASSERT(made.has_value());
  RC_ASSERT(std::string(made->evaluate({}).text()) == text);
}

RC_GTEST_PROP(ExpressionProperty, SumsOfWholeNumbersAreExact, (std::int32_t a, std::int32_t b)) {
  TestScope scope;
  scope.add("a", Value::of(std::int64_t{a}));
  scope.add("b", Value::of(std::int64_t{b}));
  const auto sum = Expression::compile("a + b - b == a and a * b == b * a", scope);
  RC_ASSERT(sum->holds(scope.evaluation()));
}

RC_GTEST_PROP(ExpressionProperty, Base64ReadsBack, (const std::string& text)) {
  TestScope scope;
  scope.add("t", Value::of(std::string_view(text)));
  const auto made = Expression::compile("base64decode(base64(t)) == t and base64decode(base64url(t)) == t", scope);
  RC_ASSERT(made->holds(scope.evaluation()));
}

}  // namespace
}  // namespace muster::authoring
