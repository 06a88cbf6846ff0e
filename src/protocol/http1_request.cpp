#include "protocol/http1_request.h"

namespace muster::protocol {

bool Http1RequestParser::choose_body() {
  if (!has(kHost) && !has(kVersion10)) return fail(Http1Error::kMissingHost);
  if (!has(kTransferEncoding)) return begin_length_body();
  // RFC 9112 section 6.1: a server may refuse both headers together; HTTP/1.0 knows no Transfer-Encoding.
  if (has(kHasLength)) return fail(Http1Error::kLengthAndTransferEncoding);
  if (has(kForeignCoding)) return fail(Http1Error::kUnsupportedTransferCoding);
  if (!has(kChunkedLast) || has(kVersion10)) return fail(Http1Error::kBadTransferEncoding);
  header_bytes_ = 0;
  phase_ = Phase::kChunkSize;
  return true;
}

bool Http1RequestParser::read_version(std::string_view version) {
  if (version == "HTTP/1.1") return true;
  if (!version.starts_with("HTTP/")) return fail(Http1Error::kBadRequestLine);
  if (version.size() != 8 || !version.starts_with("HTTP/1.") || version[7] < '0' || version[7] > '9') {
    return fail(Http1Error::kBadVersion);
  }
  if (version[7] == '0') set(kVersion10);
  return true;
}

bool Http1RequestParser::good_target(std::string_view target) {
  for (const char c : target) {
    if (scan::is_control(c) || c == '\t') return false;
  }
  return true;
}

}  // namespace muster::protocol
