// Holds a JSON document against one of the schemas in docs/. Knows just the words that those schemas use and refuses
// any other, so that a word it would pass over cannot hide a difference. For tests.
#pragma once

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace muster::report::test {

class Schema {
 public:
  using Json = nlohmann::json;

  explicit Schema(const std::string& path) {
    std::ifstream file(path);
    schema_ = Json::parse(file);
  }

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

}  // namespace muster::report::test
