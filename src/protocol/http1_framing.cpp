#include "protocol/http1_framing.h"

#include <limits>

#include "base/characters.h"

namespace muster::protocol {
namespace {

// Calls `visit` with each member of a comma-separated list (RFC 9110 section 5.6.1), empty ones included.
template <class Visit>
bool each_member(std::string_view list, Visit visit) {
  while (true) {
    const std::size_t comma = list.find(',');
    if (!visit(scan::trim(list.substr(0, comma)))) return false;
    if (comma == std::string_view::npos) return true;
    list.remove_prefix(comma + 1);
  }
}

constexpr int hex_digit(char c) {
  if (base::is_digit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  if (lower >= 'a' && lower <= 'f') return lower - 'a' + 10;
  return -1;
}

}  // namespace

Http1Framing::Take Http1Framing::take_line(const char*& at, const char* end, std::string_view& line,
                                           bool allow_bare_lf) {
  if (at == end) return Take::kNeedMore;
  const auto available = static_cast<std::size_t>(end - at);
  const auto* feed = static_cast<const char*>(std::memchr(at, '\n', available));
  const std::size_t piece = feed == nullptr ? available : static_cast<std::size_t>(feed - at);
  const std::size_t kept = partial_size();
  if (kept + piece > limits_->max_line_bytes) {
    fail(Http1Error::kLineTooLong);
    return Take::kError;
  }
  if (feed == nullptr || kept != 0) {
    if (partial_ == nullptr) partial_ = std::make_unique<std::string>();
    partial_->append(at, piece);
  }
  if (feed == nullptr) {
    at = end;
    return Take::kNeedMore;
  }
  line = kept != 0 ? std::string_view(*partial_) : std::string_view(at, piece);
  at = feed + 1;
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  } else if (!allow_bare_lf) {
    fail(Http1Error::kBareLineFeed);
    return Take::kError;
  }
  return Take::kLine;
}

Http1Error Http1Framing::judge_field_line(std::string_view line) {
  if (scan::is_blank(line.front())) return Http1Error::kObsoleteFold;
  const char* const end = line.data() + line.size();
  const char* const colon = scan::skip_token(line.data(), end);
  if (colon == end || colon == line.data()) return Http1Error::kBadHeaderName;
  if (*colon == ':') return Http1Error::kBadHeaderValue;
  const std::string_view rest = scan::trim({colon, static_cast<std::size_t>(end - colon)});
  return scan::is_blank(*colon) && rest.starts_with(':') ? Http1Error::kSpaceBeforeColon : Http1Error::kBadHeaderName;
}

bool Http1Framing::read_chunk_line(std::string_view line) {
  std::uint64_t size = 0;
  std::size_t digits = 0;
  for (; digits < line.size(); ++digits) {
    const int digit = hex_digit(line[digits]);
    if (digit < 0) break;
    if (size >> 60 != 0) return fail(Http1Error::kBadChunkSize);
    size = size << 4 | static_cast<std::uint64_t>(digit);
  }
  if (digits == 0) return fail(Http1Error::kBadChunkSize);
  std::string_view extension = line.substr(digits);
  // Spaces after the size are padding some servers write; anything else must be an extension.
  while (!extension.empty() && scan::is_blank(extension.front())) extension.remove_prefix(1);
  if (!extension.empty() && extension.front() != ';') return fail(Http1Error::kBadChunkSize);
  const char* const end = extension.data() + extension.size();
  if (scan::find_control(extension.data(), end) != end) return fail(Http1Error::kBadChunkExtension);
  header_bytes_ += static_cast<std::uint32_t>(line.size() - digits);
  if (header_bytes_ > limits_->max_chunk_extension_bytes) return fail(Http1Error::kChunkExtensionsTooLarge);
  return begin_chunk(size);
}

bool Http1Framing::begin_chunk(std::uint64_t size) {
  if (size == 0) {
    phase_ = Phase::kTrailers;
    header_bytes_ = 0;
    header_count_ = 0;
    return true;
  }
  if (size > limits_->max_body_bytes || body_bytes_ > limits_->max_body_bytes - size) {
    return fail(Http1Error::kBodyTooLarge);
  }
  body_bytes_ += size;
  remaining_ = size;
  phase_ = Phase::kChunkData;
  return true;
}

bool Http1Framing::begin_length_body() {
  if (content_length_ > limits_->max_body_bytes) return fail(Http1Error::kBodyTooLarge);
  remaining_ = content_length_;
  phase_ = remaining_ == 0 ? Phase::kDone : Phase::kLengthBody;
  return true;
}

void Http1Framing::note_connection(std::string_view value) {
  each_member(value, [this](std::string_view option) {
    if (scan::equals_ignoring_case(option, "close")) set(kConnectionClose);
    if (scan::equals_ignoring_case(option, "keep-alive")) set(kConnectionKeepAlive);
    return true;
  });
}

// RFC 9112 section 6.3, rule 5: repeated values are good only if all are the same valid number.
bool Http1Framing::note_content_length_list(std::string_view value) {
  return each_member(value, [this](std::string_view number) {
    if (number.empty()) return fail(Http1Error::kBadContentLength);
    std::uint64_t length = 0;
    for (const char c : number) {
      const auto digit = static_cast<unsigned char>(c - '0');
      constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
      if (digit > 9 || length > (kMost - digit) / 10) return fail(Http1Error::kBadContentLength);
      length = length * 10 + digit;
    }
    if (has(kHasLength) && length != content_length_) return fail(Http1Error::kConflictingContentLength);
    content_length_ = length;
    set(kHasLength);
    return true;
  });
}

bool Http1Framing::note_transfer_encoding(std::string_view value) {
  set(kTransferEncoding);
  return each_member(value, [this](std::string_view coding) {
    if (coding.empty()) return fail(Http1Error::kBadTransferEncoding);
    if (scan::equals_ignoring_case(coding, "chunked")) {
      // RFC 9112 section 7.1: chunked must not be applied twice.
      if (has(kChunkedSeen)) return fail(Http1Error::kBadTransferEncoding);
      set(kChunkedSeen);
      set(kChunkedLast);
    } else {
      set(kForeignCoding);
      clear(kChunkedLast);
    }
    return true;
  });
}

}  // namespace muster::protocol
