#include "authoring/text_template.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "authoring/json_document.h"
#include "authoring/test_scope.h"

namespace muster::authoring {
namespace {

using model::Value;
using model::ValueType;

class TemplateTest : public testing::Test {
 protected:
  TemplateTest() {
    scope_.add("text", Value::of("a b/c\"\n"));
    scope_.add("clean", Value::of("x&y=1"));
    scope_.add("n", Value::of(1.5));
    scope_.add("gone", Value());
    scope_.add("list", Value::json("[1]"));
  }

  TextTemplate made(std::string_view text, Escape escape = Escape::kNone) {
    auto result = TextTemplate::compile(text, scope_, escape);
    EXPECT_TRUE(result.has_value()) << text << ": " << result.error().message;
    return std::move(result.value());
  }

  std::string rendered(std::string_view text, Escape escape = Escape::kNone) {
    std::string out;
    const auto done = made(text, escape).render(scope_.evaluation(), out);
    return done ? out : "error: " + done.error().message;
  }

  TestScope scope_;
};

TEST_F(TemplateTest, HolesAreEscapedForTheirPlaceAndLiteralsAreNot) {
  EXPECT_EQ(rendered("/a b/${text}", Escape::kPath), "/a b/a%20b/c%22%0A");
  EXPECT_EQ(rendered("?q=${clean}&n=${n}", Escape::kQuery), "?q=x%26y%3D1&n=1.5");
  EXPECT_EQ(rendered("\"${text}\"", Escape::kJson), "\"a b/c\\\"\\n\"");
  EXPECT_EQ(rendered("Bearer ${clean}", Escape::kHeader), "Bearer x&y=1");
  EXPECT_EQ(rendered("${list} ${null} ${true} ${n}"), "[1] null true 1.5");
  EXPECT_EQ(rendered("?l=${list}", Escape::kQuery), "?l=%5B1%5D");
  EXPECT_EQ(rendered("x${1e300}", Escape::kQuery), "x1e%2B300");
}

TEST_F(TemplateTest, LiteralsOfAValueAreEscapedAsItsHolesAre) {
  const auto value = [this](std::string_view text, Escape escape, Literals literals) {
    std::string out;
    EXPECT_TRUE(TextTemplate::compile(text, scope_, escape, literals)->render(scope_.evaluation(), out));
    return out;
  };
  EXPECT_EQ(value("a & ${clean} = b", Escape::kQuery, Literals::kEscaped), "a%20%26%20x%26y%3D1%20%3D%20b");
  EXPECT_EQ(value("say \"${n}\"", Escape::kJson, Literals::kEscaped), "say \\\"1.5\\\"");
  EXPECT_EQ(value("/a b%20c/ü/${clean}", Escape::kPath, Literals::kRepaired), "/a%20b%20c/%C3%BC/x%26y%3D1");
  EXPECT_EQ(value("?x=1&y=a b ${n}", Escape::kQuery, Literals::kRepaired), "?x=1&y=a%20b%201.5");
}

TEST_F(TemplateTest, HeadersRefuseLineBreaks) {
  EXPECT_NE(rendered("x ${text}", Escape::kHeader).find("line break"), std::string::npos);
  EXPECT_NE(rendered("x ${'a\\r'}", Escape::kHeader).find("line break"), std::string::npos);
  const auto literal = TextTemplate::compile("ab\nc", scope_, Escape::kHeader);
  ASSERT_FALSE(literal.has_value());
  EXPECT_EQ(literal.error().offset, 2u);
}

TEST_F(TemplateTest, AMissingValueFailsAndSaysWhatToDo) {
  EXPECT_EQ(rendered("a ${gone}"), "error: ${gone} has no value; give it a default with ${gone ?? 'default'}");
  EXPECT_FALSE(made("${gone}").value(scope_.evaluation()).has_value());
  EXPECT_FALSE(made("a ${gone}").value(scope_.evaluation()).has_value());
  EXPECT_EQ(rendered("a ${gone ?? 'b'}"), "a b");
}

TEST_F(TemplateTest, DollarsThatOpenNoHoleStand) {
  EXPECT_EQ(rendered("$5 $$ $${n} $"), "$5 $$ ${n} $");
  EXPECT_EQ(rendered("$$${n}"), "$${n}");
  EXPECT_EQ(rendered("${'}'}${\"}\\\"\"}"), "}}\"");
}

TEST_F(TemplateTest, ASingleHoleKeepsItsType) {
  const TextTemplate number = made("${n}");
  const TextTemplate seven = made("${7}");
  EXPECT_TRUE(number.single_hole());
  EXPECT_EQ(number.value(scope_.evaluation())->type(), ValueType::kNumber);
  EXPECT_EQ(made("${list}").value(scope_.evaluation())->type(), ValueType::kJson);
  EXPECT_EQ(seven.value(scope_.evaluation())->integer(), 7);
  const TextTemplate mixed = made("n=${n}");
  EXPECT_FALSE(mixed.single_hole());
  EXPECT_EQ(mixed.value(scope_.evaluation())->text(), "n=1.5");
}

TEST_F(TemplateTest, ConstantTextHasNoHoles) {
  EXPECT_TRUE(made("").constant());
  EXPECT_TRUE(made("abc").constant());
  EXPECT_TRUE(made("a${1 + 1}c").constant());
  EXPECT_EQ(rendered("a${'/ '}c", Escape::kQuery), "a%2F%20c");
  EXPECT_FALSE(made("a${n}").constant());
  const TextTemplate empty = made("");
  EXPECT_EQ(empty.value(scope_.evaluation())->text(), "");
  const TextTemplate plain = made("abc");
  EXPECT_EQ(plain.value(scope_.evaluation())->text(), "abc");
}

TEST_F(TemplateTest, ErrorsPointIntoTheWholeText) {
  const auto unknown = TextTemplate::compile("abc ${1 + foo}", scope_, Escape::kNone);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().offset, 10u);
  const auto open = TextTemplate::compile("abc ${n", scope_, Escape::kNone);
  ASSERT_FALSE(open.has_value());
  EXPECT_EQ(open.error().offset, 4u);
}

TEST_F(TemplateTest, ValuesAreWrittenAsJson) {
  std::string out;
  for (const Value& value :
       {Value(), Value::null(), Value::of(true), Value::of("a\"\x01"), Value::json("{}"), Value::of(0.1)}) {
    append_json(out, value);
    out += ' ';
  }
  EXPECT_EQ(out, "null null true \"a\\\"\\u0001\" {} 0.1 ");
  EXPECT_FALSE(append_value(out, Value(), Escape::kNone));
  EXPECT_FALSE(append_value(out, Value::of("a\n"), Escape::kHeader));
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '%') {
      out += static_cast<char>(std::stoi(std::string(text.substr(at + 1, 2)), nullptr, 16));
      at += 2;
    } else {
      out += text[at];
    }
  }
  return out;
}

RC_GTEST_PROP(TemplateProperty, WhatAQueryEscapesReadsBack, (const std::string& text)) {
  for (const Escape escape : {Escape::kQuery, Escape::kPath}) {
    std::string out;
    RC_ASSERT(append_value(out, Value::of(std::string_view(text)), escape));
    RC_ASSERT(percent_decoded(out) == text);
  }
}

RC_GTEST_PROP(TemplateProperty, WhatJsonEscapesReadsBack, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::inRange<char>(0, 127));
  std::string out;
  append_json(out, Value::of(std::string_view(text)));
  JsonDocument document;
  base::BlockPool pool;
  base::Arena arena(pool);
  RC_ASSERT(document.parse(out));
  RC_ASSERT(std::string(document.find({}, arena).text()) == text);
}

RC_GTEST_PROP(TemplateProperty, TextWithoutDollarsRendersAsItself, (std::string text)) {
  std::erase(text, '$');
  TestScope scope;
  std::string out;
  RC_ASSERT(TextTemplate::compile(text, scope, Escape::kQuery)->render(scope.evaluation(), out).has_value());
  RC_ASSERT(out == text);
}

}  // namespace
}  // namespace muster::authoring
