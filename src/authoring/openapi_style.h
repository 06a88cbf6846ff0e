// How OpenAPI writes a parameter's value: `style` and `explode` of OpenAPI 3 (RFC 6570 underneath) and Swagger 2's
// `collectionFormat`. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "authoring/import_json.h"

namespace muster::authoring {

struct ParameterStyle {
  std::string style;     // form, simple, label, matrix, spaceDelimited, pipeDelimited, deepObject
  bool explode = false;  // values stand each on their own
  char delimiter = ',';  // between those that do not
  std::string problem;   // why the style that is asked for is not the one that is used; empty if it is
};

// `in` says where it stands: path, query, header or cookie; form fields are as a query.
ParameterStyle parameter_style(const ImportJson& parameter, std::string_view in, bool swagger);

// A name with its value. Where the value has several pieces, the delimiter between them is not to be escaped, unlike
// one inside a piece.
struct StyledPair {
  std::string name;
  std::vector<std::string> pieces;
};

// For a query, a cookie or a form.
std::vector<StyledPair> styled_pairs(const std::string& name, const ImportJson& value, const ParameterStyle& style);

// As it stands in a URL: a comma as it is, others percent-encoded.
std::string encoded_delimiter(const ParameterStyle& style);

// What stands in a path in place of {name}, percent-encoded.
std::string styled_path(const std::string& name, const ImportJson& value, const ParameterStyle& style);

// The value of a header.
std::string styled_header(const ImportJson& value, const ParameterStyle& style);

// Whether there are lists or objects inside a list or an object: OpenAPI does not say how to write those.
bool nested(const ImportJson& value);

// One value as text: what is not text as JSON, null as nothing.
std::string plain_text(const ImportJson& value);

}  // namespace muster::authoring
