// Holds docs/summary.schema.json against what summary_json() writes. Knows just the words that the schema uses and
// refuses any other, so that a word it would pass over cannot hide a difference.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "report/compare.h"
#include "report/fail_if.h"
#include "report/made_up_runs.h"
#include "report/summary_json.h"
#include "report/test_runs.h"

namespace muster::report {
namespace {

using Json = nlohmann::json;

class Validator {
 public:
  explicit Validator(Json schema) : schema_(std::move(schema)) {}

  std::vector<std::string> problems(const Json& document) {
    found_.clear();
    check(schema_, document, "$");
    return found_;
  }

 private:
  void say(const std::string& at, const std::string& problem) { found_.push_back(at + ": " + problem); }

  static bool has_type(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer();
    return type == "number" && value.is_number();
  }

  void check(const Json& schema, const Json& value, const std::string& at) {
    static const std::set<std::string> kKnown = {
        "$schema",       "$id",     "$defs",   "$ref",      "title",
        "description",   "type",    "enum",    "const",     "minimum",
        "oneOf",         "maximum", "pattern", "required",  "additionalProperties",
        "propertyNames", "format",  "items",   "properties"};
    for (const auto& [word, unused] : schema.items()) {
      if (!kKnown.contains(word)) say(at, "the schema's word '" + word + "' is not known here");
    }
    if (schema.contains("$ref")) {
      const std::string name = schema["$ref"];
      check(schema_.at(Json::json_pointer(name.substr(1))), value, at);
    }
    if (schema.contains("type") && !has_type(value, schema["type"])) return say(at, "is no " + schema["type"].dump());
    if (schema.contains("const") && value != schema["const"]) say(at, "is not " + schema["const"].dump());
    if (schema.contains("enum") && std::ranges::count(schema["enum"], value) == 0) say(at, "is not in the enum");
    if (schema.contains("minimum") && value < schema["minimum"]) say(at, "is too small");
    if (schema.contains("maximum") && value > schema["maximum"]) say(at, "is too large");
    if (schema.contains("pattern") && !std::regex_search(value.get<std::string>(), std::regex(schema["pattern"]))) {
      say(at, "does not match");
    }
    if (schema.contains("oneOf")) check_one_of(schema["oneOf"], value, at);
    if (schema.contains("items")) {
      for (std::size_t i = 0; i != value.size(); ++i) check(schema["items"], value[i], at + "/" + std::to_string(i));
    }
    if (value.is_object()) check_members(schema, value, at);
  }

  void check_one_of(const Json& schemas, const Json& value, const std::string& at) {
    int fits = 0;
    for (const Json& each : schemas) {
      const std::size_t before = found_.size();
      check(each, value, at);
      if (found_.size() == before) ++fits;
      found_.resize(before);
    }
    if (fits != 1) say(at, "fits " + std::to_string(fits) + " of the alternatives");
  }

  void check_members(const Json& schema, const Json& value, const std::string& at) {
    for (const Json& name : schema.value("required", Json::array())) {
      if (!value.contains(name.get<std::string>())) say(at, "lacks " + name.dump());
    }
    const Json members = schema.value("properties", Json::object());
    for (const auto& [name, member] : value.items()) {
      if (schema.contains("propertyNames")) check(schema["propertyNames"], Json(name), at + "/" + name);
      if (members.contains(name)) {
        check(members[name], member, at + "/" + name);
      } else if (schema.contains("additionalProperties")) {
        const Json& more = schema["additionalProperties"];
        if (more.is_boolean()) say(at, "has '" + name + "', which the schema does not know");
        if (more.is_object()) check(more, member, at + "/" + name);
      }
    }
  }

  Json schema_;
  std::vector<std::string> found_;
};

Validator validator() {
  std::ifstream file(std::string(MUSTER_TEST_DATA) + "/../../docs/summary.schema.json");
  return Validator(Json::parse(file));
}

TEST(SummarySchema, DescribesEveryKindOfRunExactly) {
  Validator schema = validator();
  for (const auto& run :
       {test::passed(), test::marked(), test::wide(), test::refused(), test::lost(), test::nothing()}) {
    const std::vector<std::string> problems = schema.problems(Json::parse(summary_json(run)));
    EXPECT_TRUE(problems.empty()) << run.job << ": " << problems.front();
  }
}

TEST(SummarySchema, DescribesComparisons) {
  Validator schema = validator();
  model::RunResult before = test::made_up({.seed = 1});
  model::RunResult after = test::made_up({.tail = 1.2, .seed = 2});
  after.id = "r-20261115-k3f8";
  Comparison comparison = compare(before, identity_of(before), after, identity_of(after));
  comparison.before.labels = {{"branch", "main"}};
  judge_conditions(comparison, {*parse_fail_if("p95 +10%"), *parse_fail_if("max step=none +1s")});
  const Json document = Json::parse(summary_json(after, &comparison));
  const std::vector<std::string> problems = schema.problems(document);
  EXPECT_TRUE(problems.empty()) << problems.front();
  EXPECT_EQ(document["comparison"]["verdict"], "worse");
  EXPECT_EQ(document["comparison"]["conditions"][0]["fired"], true);
  EXPECT_EQ(document["id"], "r-20261115-k3f8");
}

TEST(SummarySchema, RefusesWhatIsNotInIt) {
  Validator schema = validator();
  Json document = Json::parse(summary_json(test::marked()));
  document["surprise"] = 1;
  document["latency_us"].erase("p99");
  document["workflows"][0]["steps"][0]["samples"][0]["class"] = "unheard of";
  EXPECT_EQ(schema.problems(document).size(), 3u);
}

}  // namespace
}  // namespace muster::report
