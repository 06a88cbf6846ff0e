// The first byte chooses what the rest is. A description, with options: it is imported or refused, and what is made
// loads. A pattern: a text that is made for it matches it, as RE2 sees it. A schema: a value that is made for it
// without a doubt keeps its bounds, and is no larger than the limits say.
// covers: authoring/import_openapi.cpp authoring/openapi_sample.cpp authoring/openapi_style.cpp
// covers: authoring/openapi_pattern.cpp authoring/import_json.cpp
#include <re2/re2.h>

#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "authoring/import_fuzz_check.h"
#include "authoring/import_fuzz_mutate.h"
#include "authoring/openapi_pattern.h"
#include "authoring/openapi_sample.h"

namespace muster::authoring {
namespace {

using base::require;

constexpr auto kWords = std::to_array<std::string_view>({"openapi",
                                                         "3.1.0",
                                                         "swagger",
                                                         "2.0",
                                                         "servers",
                                                         "url",
                                                         "variables",
                                                         "default",
                                                         "paths",
                                                         "/a/{id}",
                                                         "/b",
                                                         "get",
                                                         "post",
                                                         "trace",
                                                         "operationId",
                                                         "env",
                                                         "tags",
                                                         "parameters",
                                                         "name",
                                                         "in",
                                                         "query",
                                                         "path",
                                                         "header",
                                                         "cookie",
                                                         "body",
                                                         "formData",
                                                         "schema",
                                                         "type",
                                                         "object",
                                                         "array",
                                                         "string",
                                                         "integer",
                                                         "number",
                                                         "boolean",
                                                         "file",
                                                         "properties",
                                                         "items",
                                                         "required",
                                                         "readOnly",
                                                         "example",
                                                         "examples",
                                                         "value",
                                                         "enum",
                                                         "const",
                                                         "allOf",
                                                         "oneOf",
                                                         "anyOf",
                                                         "not",
                                                         "$ref",
                                                         "#/components/schemas/S",
                                                         "#/paths/~1b",
                                                         "components",
                                                         "schemas",
                                                         "S",
                                                         "format",
                                                         "uuid",
                                                         "binary",
                                                         "pattern",
                                                         "minLength",
                                                         "maxLength",
                                                         "minimum",
                                                         "maximum",
                                                         "exclusiveMinimum",
                                                         "exclusiveMaximum",
                                                         "multipleOf",
                                                         "minItems",
                                                         "maxItems",
                                                         "uniqueItems",
                                                         "style",
                                                         "explode",
                                                         "matrix",
                                                         "label",
                                                         "deepObject",
                                                         "pipeDelimited",
                                                         "spaceDelimited",
                                                         "allowReserved",
                                                         "collectionFormat",
                                                         "multi",
                                                         "tsv",
                                                         "requestBody",
                                                         "content",
                                                         "application/json",
                                                         "multipart/form-data",
                                                         "application/x-www-form-urlencoded",
                                                         "text/plain",
                                                         "application/x+json",
                                                         "encoding",
                                                         "security",
                                                         "securitySchemes",
                                                         "securityDefinitions",
                                                         "apiKey",
                                                         "http",
                                                         "scheme",
                                                         "basic",
                                                         "bearer",
                                                         "oauth2",
                                                         "responses",
                                                         "200",
                                                         "3XX",
                                                         "host",
                                                         "schemes",
                                                         "https",
                                                         "basePath",
                                                         "consumes",
                                                         "deprecated",
                                                         "id"});

// Within what both languages of patterns read in the same way.
bool same_in_both(std::string_view pattern) {
  constexpr std::array<std::string_view, 4> kDifferent{"[]", "[^]", "[:", "\\_"};
  return std::ranges::none_of(kDifferent, [&](std::string_view each) { return pattern.find(each) != pattern.npos; });
}

void check_pattern(std::string_view text) {
  const std::size_t least = text.empty() ? 0 : static_cast<unsigned char>(text.front()) % 16;
  const std::string_view pattern = text.substr(std::min<std::size_t>(text.size(), 1));
  const auto made = matching_text(pattern, least, 40);
  if (!made) return;
  require(made->size() >= least && made->size() <= 40);
  const RE2 read(re2::StringPiece(pattern.data(), pattern.size()), RE2::Quiet);
  require(!read.ok() || !same_in_both(pattern) || RE2::PartialMatch(*made, read));
}

std::size_t nodes_in(const ImportJson& value) {
  std::size_t count = 1;
  if (value.is_structured()) {
    for (const ImportJson& each : value) count += nodes_in(each);
  }
  return count;
}

// What the schema itself, and nothing below it, says.
void check_bounds(const ImportJson& schema, const ImportJson& value) {
  for (const std::string_view key : {"example", "examples", "default", "const", "enum", "allOf", "oneOf", "anyOf"}) {
    if (!member(schema, key).is_null()) return;
  }
  if (value.is_number()) {
    const double number = value.get<double>();
    require(number >= number_member(schema, "minimum", number) && number <= number_member(schema, "maximum", number));
    const double step = number_member(schema, "multipleOf", 0);
    const double count = number / step;
    require(step < 1e-3 || std::abs(count) > 1e9 || std::abs(count - std::round(count)) < 1e-6);
    require(text_member(schema, "type") != "integer" || number == std::floor(number));
  }
  if (value.is_string()) {
    const auto length = static_cast<double>(value.get_ref<const std::string&>().size());
    require(length >= number_member(schema, "minLength", length));
    require(length <= std::max(number_member(schema, "maxLength", length), 0.0));
  }
}

void check_schema(std::string_view text) {
  const ImportLimits limits;
  const auto schema = parse_import_json(text, limits.depth);
  if (!schema) return;
  SchemaSampler sampler(*schema, limits);
  const ImportJson value = sampler.sample(*schema, "it");
  // The last example is taken as it is, and what is required is there as null.
  require(nodes_in(value) <= limits.sample_nodes + (limits.sample_depth + 2) * nodes_in(*schema));
  if (sampler.take_doubts().empty()) check_bounds(sampler.resolved(*schema), value);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  return mutate_json(data, size, max_size, seed, kWords);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const unsigned options = data[0];
  const std::string_view text = base::text_of(data + 1, size - 1);
  if ((options & 8) != 0) {
    (options & 1) != 0 ? check_pattern(text) : check_schema(text);
    return 0;
  }
  ImportInput input;
  input.text = text;
  if ((options & 1) != 0) input.settings.emplace_back("server", "http://a.test");
  if ((options & 2) != 0) input.settings.emplace_back("by-tag", "true");
  if ((options & 4) != 0) input.settings.emplace_back("tag", "S,id");
  check_import(openapi_importer(), std::move(input));
  return 0;
}

}  // namespace muster::authoring
