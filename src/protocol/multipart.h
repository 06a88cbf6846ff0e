// Writes multipart/form-data bodies (RFC 7578). Done before the clock starts, or with holes for values: head and tail
// of a part are separate so that a template can put its own bytes between them. The boundary is the caller's choice.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace muster::protocol {

struct MultipartPart {
  std::string_view name;
  std::string_view bytes;
  std::string_view filename = {};      // empty: a plain field
  std::string_view content_type = {};  // empty: none for a field, application/octet-stream for a file
};

// For the Content-Type header.
std::string multipart_content_type(std::string_view boundary);

// The whole body. Fails if the boundary is not one (RFC 2046 section 5.1.1), occurs inside a part, or a content type
// holds control characters.
base::Expected<std::string> build_multipart(std::span<const MultipartPart> parts, std::string_view boundary);

// One part's lines before its bytes, its line end after them, and the line after the last part. Quotes and line ends in
// names are percent-encoded as browsers do; `content_type` must be free of control characters.
void append_part_head(std::string& out, std::string_view boundary, const MultipartPart& part);
void append_part_tail(std::string& out);
void append_multipart_end(std::string& out, std::string_view boundary);

}  // namespace muster::protocol
