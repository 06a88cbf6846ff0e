#include "authoring/json_document.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

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
  for (std::string_view text :
       {R"("\)", R"("\q")", R"("\u12")", R"("\ud800")", R"("\ud800\u0041")", R"("\udc00")", "tru", "\""}) {
    EXPECT_TRUE(json_value(text, arena_).missing()) << text;
  }
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
