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

// Must say what start_line() says of the whole line.
bool Http1ResponseParser::start_may_be(std::size_t place, std::string_view piece) {
  constexpr std::string_view kShape = "HTTP/1.n 1nn ";  // n is any digit, the 1 of the code any but 0
  constexpr std::size_t kVersionAt = 5;
  constexpr std::size_t kVersionEnd = 8;
  for (; !piece.empty() && piece.front() != '\n' && place < kShape.size(); ++place, piece.remove_prefix(1)) {
    const char found = piece.front();
    const bool digit = found >= '0' && found <= '9';
    bool good = found == kShape[place];
    if (kShape[place] == 'n') good = digit;
    if (place == kVersionEnd + 1) good = digit && found != '0';
    if (place + 1 == kShape.size()) good = good || found == '\r';  // no reason
    if (good) continue;
    return fail(place >= kVersionAt && place < kVersionEnd ? Http1Error::kBadVersion : Http1Error::kBadStatusLine);
  }
  return true;
}

}  // namespace muster::protocol
