#include "authoring/openapi_style.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "protocol/url.h"

namespace muster::authoring {
namespace {

ParameterStyle swagger_style(const ImportJson& parameter, bool query) {
  constexpr std::array<std::pair<std::string_view, char>, 4> kFormats{
      {{"csv", ','}, {"ssv", ' '}, {"tsv", '\t'}, {"pipes", '|'}}};
  ParameterStyle made{.style = query ? "form" : "simple", .problem = {}};
  const std::string format = text_member(parameter, "collectionFormat", "csv");
  if (format == "multi" && query) {
    made.explode = true;
    return made;
  }
  const auto found = std::ranges::find(kFormats, format, [](const auto& each) { return each.first; });
  if (found != kFormats.end()) {
    made.delimiter = found->second;
  } else {
    made.problem = fmt::format("collectionFormat '{}' has no meaning here, csv is used", format.substr(0, 40));
  }
  return made;
}

// Names and values one after the other: x,3,y,4.
std::vector<std::string> pieces_of(const ImportJson& value) {
  std::vector<std::string> pieces;
  if (value.is_object()) {
    for (const auto& [key, inside] : value.items()) {
      pieces.push_back(key);
      pieces.push_back(plain_text(inside));
    }
  } else if (value.is_array()) {
    for (const ImportJson& each : value) pieces.push_back(plain_text(each));
  } else {
    pieces.push_back(plain_text(value));
  }
  return pieces;
}

// The same, where the members of an object are told apart from their values: x=3, y=4.
template <typename Encode>
std::vector<std::string> members_of(const ImportJson& value, bool explode, const Encode& encode) {
  std::vector<std::string> made;
  if (value.is_object() && explode) {
    for (const auto& [key, inside] : value.items())
      made.push_back(fmt::format("{}={}", encode(key), encode(plain_text(inside))));
  } else {
    for (const std::string& each : pieces_of(value)) made.push_back(encode(each));
  }
  return made;
}

}  // namespace

ParameterStyle parameter_style(const ImportJson& parameter, std::string_view in, bool swagger) {
  const bool query = in == "query" || in == "cookie";
  if (swagger) return swagger_style(parameter, query);
  const std::string_view usual = query ? "form" : "simple";
  ParameterStyle made{.style = text_member(parameter, "style", usual), .problem = {}};
  const bool known = made.style == usual || (in == "path" && (made.style == "label" || made.style == "matrix")) ||
                     (in == "query" &&
                      (made.style == "spaceDelimited" || made.style == "pipeDelimited" || made.style == "deepObject"));
  if (!known) {
    made.problem = fmt::format("style '{}' has no meaning here, {} is used", made.style.substr(0, 40), usual);
    made.style = usual;
  }
  const ImportJson& explode = member(parameter, "explode");
  made.explode = explode.is_boolean() ? explode.get<bool>() : made.style == "form";
  if (made.style == "spaceDelimited") made.delimiter = ' ';
  if (made.style == "pipeDelimited") made.delimiter = '|';
  return made;
}

std::vector<StyledPair> styled_pairs(const std::string& name, const ImportJson& value, const ParameterStyle& style) {
  std::vector<StyledPair> pairs;
  const bool deep = style.style == "deepObject";
  if (value.is_object() && (deep || style.explode)) {
    for (const auto& [key, inside] : value.items())
      pairs.push_back({deep ? fmt::format("{}[{}]", name, key) : key, {plain_text(inside)}});
    return pairs;
  }
  if (value.is_array() && (deep || style.explode) && !value.empty()) {
    for (const ImportJson& each : value) pairs.push_back({name, {plain_text(each)}});
    return pairs;
  }
  pairs.push_back({name, pieces_of(value)});
  if (pairs.back().pieces.empty()) pairs.back().pieces.emplace_back();
  return pairs;
}

std::string encoded_delimiter(const ParameterStyle& style) {
  return style.delimiter == ',' ? "," : protocol::encode_query({&style.delimiter, 1});
}

std::string styled_path(const std::string& name, const ImportJson& value, const ParameterStyle& style) {
  const std::vector<std::string> parts = members_of(value, style.explode, protocol::encode_query);
  if (style.style == "label") return fmt::format(".{}", fmt::join(parts, style.explode ? "." : ","));
  if (style.style != "matrix") return fmt::format("{}", fmt::join(parts, encoded_delimiter(style)));
  const std::string key = protocol::encode_query(name);
  if (value.is_object() && style.explode) return fmt::format(";{}", fmt::join(parts, ";"));
  std::string made;
  if (value.is_array() && style.explode) {
    for (const std::string& each : parts) made += fmt::format(";{}{}{}", key, each.empty() ? "" : "=", each);
    return made;
  }
  made = fmt::format("{}", fmt::join(parts, ","));
  return fmt::format(";{}{}{}", key, made.empty() ? "" : "=", made);
}

std::string styled_header(const ImportJson& value, const ParameterStyle& style) {
  const auto as_it_is = [](const std::string& text) { return text; };
  return fmt::format("{}", fmt::join(members_of(value, style.explode, as_it_is), std::string(1, style.delimiter)));
}

bool nested(const ImportJson& value) {
  if (!value.is_structured()) return false;
  return std::any_of(value.begin(), value.end(), [](const ImportJson& each) { return each.is_structured(); });
}

std::string plain_text(const ImportJson& value) {
  if (value.is_null()) return {};
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, ImportJson::error_handler_t::replace);
}

}  // namespace muster::authoring
