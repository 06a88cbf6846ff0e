#include "authoring/openapi_sample.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "protocol/url.h"

namespace muster::authoring {
namespace {

const ImportJson& nothing() {
  static const ImportJson kNothing;
  return kNothing;
}

// Swagger and OpenAPI 3.0 write one word, OpenAPI 3.1 a word or a list.
std::string type_of(const ImportJson& schema) {
  const ImportJson& type = member(schema, "type");
  if (type.is_string()) return type.get<std::string>();
  if (type.is_array()) {
    for (const ImportJson& each : type) {
      if (each.is_string() && each.get_ref<const std::string&>() != "null") return each.get<std::string>();
    }
  }
  if (member(schema, "properties").is_object()) return "object";
  return member(schema, "items").is_object() ? "array" : "";
}

std::string text_sample(const ImportJson& schema) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kFormats{{
      {"date-time", "2026-01-02T03:04:05Z"},
      {"date", "2026-01-02"},
      {"time", "03:04:05Z"},
      {"uuid", "00000000-0000-4000-8000-000000000001"},
      {"email", "ada@example.com"},
      {"uri", "https://example.com/"},
      {"url", "https://example.com/"},
      {"hostname", "example.com"},
      {"ipv4", "192.0.2.1"},
      {"ipv6", "2001:db8::1"},
      {"byte", "c2FtcGxl"},
      {"password", "sample-password"},
  }};
  const std::string format = text_member(schema, "format");
  for (const auto& [name, value] : kFormats) {
    if (format == name) return std::string(value);
  }
  std::string text = "sample";
  const double least = number_member(schema, "minLength", 0);
  const double most = number_member(schema, "maxLength", 1000);
  while (static_cast<double>(text.size()) < std::min(least, 1000.0)) text += 'x';
  if (most >= 0 && static_cast<double>(text.size()) > most) text.resize(static_cast<std::size_t>(most));
  return text;
}

ImportJson number_sample(const ImportJson& schema, bool integer) {
  double value = number_member(schema, "minimum", 1);
  const ImportJson& exclusive = member(schema, "exclusiveMinimum");
  if (exclusive.is_number()) value = exclusive.get<double>() + 1;
  if (exclusive.is_boolean() && exclusive.get<bool>()) value += 1;
  value = std::min(value, number_member(schema, "maximum", value));
  const double multiple = number_member(schema, "multipleOf", 0);
  if (multiple > 0 && multiple >= value) value = multiple;
  if (integer && value > -9e15 && value < 9e15) return static_cast<std::int64_t>(value);
  return value;
}

}  // namespace

const ImportJson& example_of(const ImportJson& value) {
  if (const ImportJson& example = member(value, "example"); !example.is_null()) return example;
  const ImportJson& examples = member(value, "examples");
  if (examples.is_array() && !examples.empty()) return examples.front();
  // Under a parameter or a media type: name → { value }.
  if (examples.is_object() && !examples.empty()) return member(examples.front(), "value");
  return nothing();
}

const ImportJson& SchemaSampler::resolved(const ImportJson& value) const {
  const ImportJson* at = &value;
  for (std::size_t hops = 0; hops < limits_.references; ++hops) {
    const ImportJson& reference = member(*at, "$ref");
    if (!reference.is_string()) return *at;
    const std::string& text = reference.get_ref<const std::string&>();
    if (!text.starts_with("#/")) {
      if (remote_.empty()) remote_ = text;
      return nothing();
    }
    at = &document_;
    std::string_view rest = std::string_view(text).substr(2);
    while (true) {
      const std::size_t slash = rest.find('/');
      std::string key = protocol::percent_decode(rest.substr(0, slash));
      for (const auto& [mark, character] : {std::pair("~1", "/"), std::pair("~0", "~")}) {
        for (std::size_t found = key.find(mark); found != std::string::npos; found = key.find(mark, found + 1)) {
          key.replace(found, 2, character);
        }
      }
      std::size_t index = 0;
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
      const bool number = error == std::errc() && end == key.data() + key.size();
      at = at->is_array() && number && index < at->size() ? &(*at)[index] : &member(*at, key);
      if (slash == std::string_view::npos) break;
      rest.remove_prefix(slash + 1);
    }
  }
  return nothing();
}

ImportJson SchemaSampler::sample(const ImportJson& schema) {
  nodes_ = 0;
  under_way_.clear();
  return made(schema, 0);
}

ImportJson SchemaSampler::made(const ImportJson& given, std::size_t depth) {
  if (depth > limits_.sample_depth || ++nodes_ > limits_.sample_nodes) return nullptr;
  const ImportJson& schema = resolved(given);
  if (std::ranges::find(under_way_, &schema) != under_way_.end()) return nullptr;
  under_way_.push_back(&schema);
  ImportJson value = composed(schema, depth);
  under_way_.pop_back();
  return value;
}

ImportJson SchemaSampler::composed(const ImportJson& schema, std::size_t depth) {
  if (const ImportJson& example = example_of(schema); !example.is_null()) return example;
  for (const std::string_view key : {"default", "const"}) {
    if (const ImportJson& value = member(schema, key); !value.is_null()) return value;
  }
  if (const ImportJson& choices = member(schema, "enum"); choices.is_array() && !choices.empty())
    return choices.front();
  if (const ImportJson& all = member(schema, "allOf"); all.is_array() && !all.empty()) {
    ImportJson whole = object(schema, depth);
    for (const ImportJson& each : all) {
      const ImportJson part = made(each, depth + 1);
      if (!part.is_object()) {
        if (whole.empty() && all.size() == 1) return part;
        continue;
      }
      for (const auto& [key, value] : part.items()) whole[key] = value;
    }
    return whole;
  }
  for (const std::string_view key : {"oneOf", "anyOf"}) {
    const ImportJson& some = member(schema, key);
    if (some.is_array() && !some.empty()) return made(some.front(), depth + 1);
  }
  const std::string type = type_of(schema);
  if (type == "object") return object(schema, depth);
  if (type == "array") return array(schema, depth);
  if (type == "integer" || type == "number") return number_sample(schema, type == "integer");
  if (type == "boolean") return true;
  if (type == "string") return text_sample(schema);
  return type.empty() && schema.is_object() && !schema.empty() ? ImportJson(text_sample(schema)) : ImportJson();
}

ImportJson SchemaSampler::object(const ImportJson& schema, std::size_t depth) {
  ImportJson whole = ImportJson::object();
  const ImportJson& properties = member(schema, "properties");
  if (!properties.is_object()) return whole;
  const ImportJson& required = member(schema, "required");
  for (const auto& [key, value] : properties.items()) {
    const ImportJson& property = resolved(value);
    const ImportJson& read_only = member(property, "readOnly");
    if (read_only.is_boolean() && read_only.get<bool>()) continue;
    ImportJson part = made(value, depth + 1);
    // Where a circle or the depth ended it, what nobody requires is better left out.
    const bool needed =
        required.is_array() && std::find(required.begin(), required.end(), ImportJson(key)) != required.end();
    if (!part.is_null() || needed) whole[key] = std::move(part);
  }
  return whole;
}

ImportJson SchemaSampler::array(const ImportJson& schema, std::size_t depth) {
  ImportJson list = ImportJson::array();
  ImportJson part = made(member(schema, "items"), depth + 1);
  if (part.is_null()) return list;
  const double least = number_member(schema, "minItems", 1);
  list.push_back(part);
  for (double count = 1; count < std::min(least, 5.0); ++count) list.push_back(part);
  return list;
}

}  // namespace muster::authoring
