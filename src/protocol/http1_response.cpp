#include "protocol/http1_response.h"

namespace muster::protocol {

bool Http1ResponseParser::end_interim() {
  if (interim_count_ >= limits_->max_interim || interim_count_ == 255) return fail(Http1Error::kTooManyInterim);
  const auto count = static_cast<std::uint8_t>(interim_count_ + 1);
  const std::uint16_t flags = flags_ & kHeadRequest;
  // A line buffer may hold the empty line being read: it stays, and drop_line() empties it.
  std::unique_ptr<std::string> kept = std::move(partial_);
  restart(flags);
  partial_ = std::move(kept);
  interim_count_ = count;
  return true;
}

// Any other 1.x is read as 1.1 (RFC 9110 section 2.5).
bool Http1ResponseParser::read_version(std::string_view line) {
  if (!line.starts_with("HTTP/")) return fail(Http1Error::kBadStatusLine);
  if (!line.starts_with("HTTP/1.") || line[7] < '0' || line[7] > '9') return fail(Http1Error::kBadVersion);
  if (line[7] == '0') set(kVersion10);
  return true;
}

Http1Error Http1ResponseParser::judge_status_line(std::string_view line) {
  return line.starts_with("HTTP/") && !line.starts_with("HTTP/1.") ? Http1Error::kBadVersion
                                                                   : Http1Error::kBadStatusLine;
}

}  // namespace muster::protocol
