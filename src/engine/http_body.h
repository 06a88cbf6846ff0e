// Request bodies of HTTP steps: text, file, JSON, form and multipart, compiled into literals and holes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "authoring/scope.h"
#include "base/error.h"
#include "engine/http_prepare.h"
#include "model/job.h"

namespace muster::engine {

struct HttpBody {
  Pieces pieces;
  bool present = false;
  std::string content_type;  // empty: none is implied
};

// `seed` gives the boundary of multipart bodies.
base::Expected<HttpBody> http_body(const model::Step& step, authoring::Scope& scope, std::uint64_t seed);

// What a value of a map of texts stands for: one text, or each of a list; nothing written is the empty text.
std::vector<std::string> repeated_texts(const model::Tree& value);

std::string base64(std::string_view bytes);

// A text with holes as one expression that joins its parts: a${b} becomes 'a' + text(b).
std::string concatenation(std::string_view text_with_holes);

}  // namespace muster::engine
