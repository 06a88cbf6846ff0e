#include "protocol/multipart.h"

#include <fmt/core.h>

#include "base/characters.h"
#include "protocol/http1_scan.h"

namespace muster::protocol {
namespace {

bool good_boundary(std::string_view boundary) {
  constexpr std::string_view kOthers = "'()+_,-./:=? ";
  if (boundary.empty() || boundary.size() > 70 || boundary.ends_with(' ')) return false;
  for (const char c : boundary) {
    const bool letter_or_digit = base::is_letter_or_digit(c);
    if (!letter_or_digit && kOthers.find(c) == kOthers.npos) return false;
  }
  return true;
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "%22";
        break;
      case '\r':
        out += "%0D";
        break;
      case '\n':
        out += "%0A";
        break;
      default:
        out += c;
    }
  }
  out += '"';
}

}  // namespace

std::string multipart_content_type(std::string_view boundary) {
  std::string type = "multipart/form-data; boundary=";
  if (scan::is_token(boundary)) {
    type += boundary;
  } else {
    append_quoted(type, boundary);
  }
  return type;
}

base::Expected<std::string> build_multipart(std::span<const MultipartPart> parts, std::string_view boundary) {
  if (!good_boundary(boundary)) {
    return base::fail("a multipart boundary is 1 to 70 letters, digits or '()+_,-./:=? and does not end with a space");
  }
  const std::string delimiter = "--" + std::string(boundary);
  std::string out;
  for (const MultipartPart& part : parts) {
    if (part.bytes.find(delimiter) != part.bytes.npos) {
      return base::fail(fmt::format("part \"{}\" contains the boundary \"{}\"; choose another", part.name, boundary));
    }
    const char* const end = part.content_type.data() + part.content_type.size();
    if (scan::find_control(part.content_type.data(), end) != end) {
      return base::fail(fmt::format("the content type of part \"{}\" holds control characters", part.name));
    }
    append_part_head(out, boundary, part);
    out += part.bytes;
    append_part_tail(out);
  }
  append_multipart_end(out, boundary);
  return out;
}

void append_part_head(std::string& out, std::string_view boundary, const MultipartPart& part) {
  out.append("--").append(boundary).append("\r\nContent-Disposition: form-data; name=");
  append_quoted(out, part.name);
  std::string_view type = part.content_type;
  if (!part.filename.empty()) {
    out += "; filename=";
    append_quoted(out, part.filename);
    if (type.empty()) type = "application/octet-stream";
  }
  if (!type.empty()) out.append("\r\nContent-Type: ").append(type);
  out += "\r\n\r\n";
}

void append_part_tail(std::string& out) {
  out += "\r\n";
}

void append_multipart_end(std::string& out, std::string_view boundary) {
  out.append("--").append(boundary).append("--\r\n");
}

}  // namespace muster::protocol
