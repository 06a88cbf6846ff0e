#include "authoring/json_document.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <tuple>

#include "authoring/json_scan.h"
#include "authoring/options.h"
#include "authoring/test_scope.h"

namespace muster::authoring {
namespace {

using model::Value;

constexpr std::string_view kText =
    R"( {"a": [1, -2.5, {"b": "x\n\u00e9"}], "t": true, "n": null, "big": 18446744073709551615, "": 0, "e": {}, "k\"ey": 1} )";

class JsonTest : public testing::Test {
 protected:
  std::string found(std::string_view text, const Path& path) {
    EXPECT_TRUE(document_.parse(text));
    return shown(document_.find(path, arena_));
  }

  JsonDocument document_;
  base::BlockPool pool_;
  base::Arena arena_{pool_};
};

TEST_F(JsonTest, PathsFindValuesWithTheirTypes) {
  const std::pair<Path, std::string_view> cases[] = {
      {{"a", std::int64_t{0}}, "1"},
      {{"a", std::int64_t{1}}, "-2.5"},
      {{"a", std::int64_t{-1}, "b"}, "\"x\\né\""},
      {{"a", std::int64_t{-4}}, "missing"},
      {{"a", std::int64_t{3}}, "missing"},
      {{"a", "b"}, "missing"},
      {{"a"}, "[1,-2.5,{\"b\":\"x\\né\"}]"},
      {{"t"}, "true"},
      {{"n"}, "null"},
      {{"n", "x"}, "missing"},
      {{"big"}, "1.8446744073709552e+19"},
      {{""}, "0"},
      {{"e"}, "{}"},
      {{"k\"ey"}, "1"},
      {{"zzz"}, "missing"},
      {{std::int64_t{0}}, "missing"},
  };
  for (const auto& [path, expected] : cases) {
    EXPECT_EQ(found(kText, path), expected) << to_text(path);
    if (path != Path{"a"}) EXPECT_EQ(shown(find_in_json(kText, path, arena_)), expected) << to_text(path);
  }
}

TEST_F(JsonTest, TheSameDocumentIsUsedAgain) {
  EXPECT_EQ(found("[1]", {std::int64_t{0}}), "1");
  EXPECT_FALSE(document_.parse("[1"));
  EXPECT_TRUE(document_.find({}, arena_).missing());
  const std::string large = "[\"" + std::string(100'000, 'x') + "\", 2]";
  EXPECT_EQ(found(large, {std::int64_t{1}}), "2");
  EXPECT_EQ(found("\"text\"", {}), "\"text\"");
}

TEST_F(JsonTest, WhatIsNoJsonIsRefused) {
  for (std::string_view text : {"", " ", "nope", "{", "[1,]", "{\"a\":}", "1 2", "\"\\x\"", "\"\xff\""}) {
    EXPECT_FALSE(document_.parse(text)) << text;
  }
}

TEST_F(JsonTest, DepthAndLengthAreLimited) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(document_.parse(nested(kJsonLimits.depth - 1)));
  EXPECT_FALSE(document_.find({}, arena_).missing());
  EXPECT_FALSE(document_.parse(nested(kJsonLimits.depth + 1)));
  EXPECT_FALSE(document_.parse(std::string(kJsonLimits.text_bytes + 1, ' ')));
  // Growing to a larger document keeps the limit.
  EXPECT_TRUE(document_.parse("[\"" + std::string(1 << 20, 'x') + "\"]"));
  EXPECT_FALSE(document_.parse(nested(kJsonLimits.depth + 1)));
}

TEST_F(JsonTest, TheScannerYieldsNothingFromBrokenText) {
  for (std::string_view text :
       {"{\"a\"", "{\"a\":", "{\"a\" 1}", "{1:2}", "[1 2", "{\"a\":\"x", "{\"a\":[1", "\"", ""}) {
    const Value value = find_in_json(text, {"a"}, arena_);
    EXPECT_TRUE(value.missing()) << text << " gave " << shown(value);
  }
  for (std::string_view text : {R"("\)", R"("\q")", R"("\u12")", "tru", "\""}) {
    EXPECT_TRUE(json_value(text, arena_).missing()) << text;
  }
}

TEST_F(JsonTest, OneUnusualValueDoesNotSpoilItsNeighbours) {
  const std::tuple<std::string_view, Path, std::string_view> cases[] = {
      {R"({"a":1,"big":12345678901234567890123})", {"big"}, "1.2345678901234568e+22"},
      {R"({"a":1,"big":-9223372036854775809})", {"big"}, "-9.223372036854776e+18"},
      {R"({"a":1,"n":1e999})", {"n"}, "1.7976931348623157e+308"},
      {R"({"a":1,"n":-1e99999999999999999999})", {"n"}, "-1.7976931348623157e+308"},
      {R"({"a":1,"n":1e999,"tiny":-1e-999})", {"tiny"}, "0"},
      {R"({"a":1,"u":"\ud800x"})", {"u"}, "\"\xEF\xBF\xBDx\""},
      {R"({"a":1,"u":"\udc00\ud800\u0041"})",
       {"u"},
       "\"\xEF\xBF\xBD\xEF\xBF\xBD"
       "A\""},
      {"\xEF\xBB\xBF{\"a\":1,\"b\":2}", {"b"}, "2"},
      {R"({"a":1,"n":1e999,"plain":"x"})", {"plain"}, "\"x\""},
  };
  for (const auto& [text, path, expected] : cases) {
    EXPECT_EQ(found(text, {"a"}), "1") << text;
    EXPECT_EQ(found(text, path), expected) << text;
    EXPECT_EQ(shown(find_in_json(text, {"a"}, arena_)), "1") << text;
    EXPECT_EQ(shown(find_in_json(text, path, arena_)), expected) << text;
  }
}

TEST_F(JsonTest, ArraysAndObjectsKeepUnusualNumbersAsTheyAreWritten) {
  EXPECT_EQ(found(R"( [ {"id" : 12345678901234567890123, "u":"\ud800\n", "x": [1.0, 1e999 , 1e2, true]} ] )", {}),
            "[{\"id\":12345678901234567890123,\"u\":\"\xEF\xBF\xBD\\n\",\"x\":[1,1e999,100,true]}]");
  EXPECT_EQ(found(R"({"n":1e999,"s":[ "\u00e9" , 18446744073709551615 ]})", {"s"}), "[\"é\",1.8446744073709552e+19]");
}

TEST_F(JsonTest, WhatIsRefusedHasAReason) {
  const std::pair<std::string, std::string_view> cases[] = {
      {"", "it is empty"},
      {"<html>", "a value was expected at byte 1, but there is '<'"},
      {"{\"a\":1", "',' or '}' was expected at byte 7, but it ends there"},
      {"[1 2]", "',' or ']' was expected at byte 4, but there is '2'"},
      {"{a:1}", "a name in quotes was expected at byte 2, but there is 'a'"},
      {"{\"a\" 1}", "':' was expected at byte 6, but there is '1'"},
      {"[1e999, 01]", "',' or ']' was expected at byte 10, but there is '1'"},
      {"[1e999, -]", "a value was expected at byte 9, but there is '-'"},
      {"[1.]", "a value was expected at byte 2, but there is '1'"},
      {"[\"\\ud800\", \"\\u12\"]", "an escape such as \\n or \\u00e9 was expected at byte 14, but there is 'u'"},
      {"[\"\\ud800\", \"x", "the end of a string was expected at byte 14, but it ends there"},
      {"[\"\n\"]", "an escape in place of a control character was expected at byte 3, but there is 0x0a"},
      {"1 2", "the end was expected at byte 3, but there is '2'"},
      {"[\"\xff\"]", "it is not UTF-8 at byte 3"},
      {std::string(kJsonLimits.text_bytes + 1, ' '), "it has more than 67108864 bytes"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_FALSE(document_.parse(text)) << text;
    EXPECT_EQ(document_.fault(), expected) << text;
  }
  EXPECT_FALSE(document_.parse("[1e999," + std::string(kJsonLimits.depth, '[') + "1"));
  EXPECT_EQ(document_.fault(),
            "its values stand within more than 254 others from byte 263 on, which is deeper than muster reads");
}

TEST_F(JsonTest, EqualityIgnoresWhiteSpaceOutsideOfStrings) {
  EXPECT_TRUE(same_json("[1, {\"a\" : 2}]", "[1,{\"a\":2}]\n"));
  EXPECT_FALSE(same_json("[\"a b\"]", "[\"ab\"]"));
  EXPECT_TRUE(same_json(R"(["\" x"])", R"([ "\" x"])"));
  EXPECT_FALSE(same_json(R"(["\" x"])", R"(["\"x"])"));
  EXPECT_FALSE(same_json("[1]", "[1"));
  EXPECT_FALSE(same_json("\"\\", "\"\\"));
}

rc::Gen<std::string> json_text(int depth) {
  const auto scalar = rc::gen::oneOf(
      rc::gen::map(rc::gen::arbitrary<std::int32_t>(), [](std::int32_t number) { return std::to_string(number); }),
      rc::gen::element<std::string>("true", "false", "null", "\"\"", "1.25", "\"a\\u00e9\\n\"", "\"]}\\\"\""));
  if (depth == 0) return scalar;
  const auto joined = [](const std::vector<std::string>& parts, bool object) {
    std::string out = object ? "{" : "[";
    for (std::size_t at = 0; at < parts.size(); ++at) {
      if (at > 0) out += " , ";
      if (object) out += "\"k" + std::to_string(at) + "\" : ";
      out += parts[at];
    }
    return out + (object ? "}" : "]");
  };
  const auto children = rc::gen::resize(4, rc::gen::container<std::vector<std::string>>(json_text(depth - 1)));
  return rc::gen::oneOf(scalar, rc::gen::map(children, [joined](const auto& parts) { return joined(parts, true); }),
                        rc::gen::map(children, [joined](const auto& parts) { return joined(parts, false); }));
}

RC_GTEST_PROP(JsonProperty, DocumentAndScannerAgree, ()) {
  const std::string text = *json_text(3);
  JsonDocument document;
  base::BlockPool pool;
  base::Arena arena(pool);
  RC_ASSERT(document.parse(text));
  for (const PathPart& first :
       {PathPart("k0"), PathPart("k1"), PathPart(std::int64_t{0}), PathPart(std::int64_t{-1})}) {
    for (const PathPart& second : {PathPart("k0"), PathPart(std::int64_t{1}), PathPart(std::int64_t{-2})}) {
      for (const Path& path : {Path{first}, Path{first, second}}) {
        const Value a = document.find(path, arena);
        const Value b = find_in_json(text, path, arena);
        RC_ASSERT(a.type() == b.type());
        if (a.type() == model::ValueType::kJson) {
          RC_ASSERT(document.parse(b.text()));
          RC_ASSERT(std::string(document.find({}, arena).text()) == std::string(a.text()));
          RC_ASSERT(document.parse(text));
        } else {
          RC_ASSERT(shown(a) == shown(b));
        }
      }
    }
  }
}

}  // namespace
}  // namespace muster::authoring
