// What `muster explain` tells about an HTTP call.
#include <fmt/format.h>

#include "engine/http_prepare.h"

namespace muster::engine {
namespace {

// Beside the VU itself; measured by `./dev bench memory`, rounded up.
constexpr std::size_t kPlainConnectionBytes = 1024;
constexpr std::size_t kTlsConnectionBytes = std::size_t{24} * 1024;

std::string_view lifetime(ConnectionPolicy policy) {
  switch (policy) {
    case ConnectionPolicy::kPerVu:
      return "one connection for each VU, kept open";
    case ConnectionPolicy::kPerIteration:
      return "a new connection for each iteration";
    case ConnectionPolicy::kNone:
      return "a new connection for each request";
  }
  return "";
}

}  // namespace

void Pieces::append_to(std::vector<authoring::TextPiece>& pieces) const {
  for (const Part& part : parts_) {
    if (part.kind == Kind::kLiteral) {
      authoring::append_literal(pieces, part.literal);
    } else {
      part.hole->append_to(pieces);
    }
  }
}

CallOutline PreparedHttp::outline() const {
  CallOutline told;
  const bool secure = static_origin && url.secure();
  told.connection_bytes = secure ? kTlsConnectionBytes : kPlainConnectionBytes;
  told.connections =
      fmt::format("{}: {}{}", static_origin ? fmt::format("{}://{}", url.scheme, url.authority()) : "made at run time",
                  lifetime(settings->connections), settings->cookies ? ", with a cookie jar" : "");
  std::vector<authoring::TextPiece>& wire = told.wire;
  if (constant) {
    authoring::append_literal(wire, bytes);
    return told;
  }
  authoring::append_literal(wire, method + " ");
  (static_origin ? target : whole_url).append_to(wire);
  authoring::append_literal(wire, " HTTP/1.1\r\n");
  if (!own_host && static_origin) authoring::append_literal(wire, fmt::format("Host: {}\r\n", url.authority()));
  headers.append_to(wire);
  if (!own_length && has_body) {
    authoring::append_literal(wire, "Content-Length: ");
    if (body.constant()) {
      authoring::append_literal(wire, fmt::to_string(body.constant_text().size()));
    } else {
      wire.push_back({.text = "length of the body", .hole = true, .offset = 0});
    }
    authoring::append_literal(wire, "\r\n");
  }
  if (!own_length && !has_body && expects_body()) authoring::append_literal(wire, "Content-Length: 0\r\n");
  if (has_body && !type.empty()) {
    authoring::append_literal(wire, "Content-Type: ");
    type.append_to(wire);
    authoring::append_literal(wire, "\r\n");
  }
  if (has_body && expects_continue) authoring::append_literal(wire, kExpectLine);
  authoring::append_literal(wire, "\r\n");
  body.append_to(wire);
  return told;
}

}  // namespace muster::engine
