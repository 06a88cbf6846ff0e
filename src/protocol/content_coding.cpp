#include "protocol/content_coding.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <limits>

#include "protocol/http1_scan.h"

namespace muster::protocol {
namespace {

constexpr int kGzipWindow = 15 + 16;
constexpr int kZlibWindow = 15;
constexpr int kRawWindow = -15;

base::Expected<void> too_large(std::size_t limit) {
  return base::fail(fmt::format(
      "the compressed body decodes to more than the limit of {} bytes; it may be a decompression bomb", limit));
}

// RFC 1950 section 2.2. A raw deflate stream never looks like this: it would have to begin with a stored block whose
// padding bits are not zero.
bool is_zlib_header(char first, char second) {
  const unsigned cmf = static_cast<unsigned char>(first);
  const unsigned flg = static_cast<unsigned char>(second);
  return (cmf & 15) == 8 && cmf >> 4 <= 7 && (cmf * 256 + flg) % 31 == 0;
}

}  // namespace

struct ContentDecoder::Inflater {
  z_stream stream{};
  bool ready = false;
  char scratch[16 * 1024];

  Inflater() = default;
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    if (ready) inflateEnd(&stream);
  }
};

std::optional<ContentCoding> content_coding(std::string_view header_value) {
  const std::string_view name = scan::trim(header_value);
  if (name.empty() || scan::equals_ignoring_case(name, "identity")) return ContentCoding::kIdentity;
  if (scan::equals_ignoring_case(name, "gzip") || scan::equals_ignoring_case(name, "x-gzip"))
    return ContentCoding::kGzip;
  if (scan::equals_ignoring_case(name, "deflate")) return ContentCoding::kDeflate;
  return std::nullopt;
}

ContentDecoder::ContentDecoder() = default;
ContentDecoder::ContentDecoder(ContentDecoder&&) noexcept = default;
ContentDecoder& ContentDecoder::operator=(ContentDecoder&&) noexcept = default;
ContentDecoder::~ContentDecoder() = default;

base::Expected<void> ContentDecoder::decode(ContentCoding coding, std::string_view body, std::string& out,
                                            const ContentCodingLimits& limits) {
  if (auto good = start(coding); !good) return good;
  if (auto good = write(body, out, limits); !good) return good;
  return finish();
}

base::Expected<void> ContentDecoder::start(ContentCoding coding) {
  coding_ = coding;
  phase_ = Phase::kStart;
  produced_ = 0;
  has_first_ = false;
  if (coding == ContentCoding::kGzip) return prepare(kGzipWindow);
  return {};
}

base::Expected<void> ContentDecoder::write(std::string_view part, std::string& out, const ContentCodingLimits& limits) {
  if (part.empty()) return {};
  if (coding_ == ContentCoding::kIdentity) {
    if (part.size() > limits.max_output_bytes - std::min(produced_, limits.max_output_bytes)) {
      return too_large(limits.max_output_bytes);
    }
    produced_ += part.size();
    out += part;
    return {};
  }
  if (coding_ == ContentCoding::kDeflate && phase_ == Phase::kStart) {
    if (!has_first_ && part.size() == 1) {
      first_ = part.front();
      has_first_ = true;
      return {};
    }
    const bool zlib = has_first_ ? is_zlib_header(first_, part[0]) : is_zlib_header(part[0], part[1]);
    if (auto good = prepare(zlib ? kZlibWindow : kRawWindow); !good) return good;
    phase_ = Phase::kInside;
    if (has_first_) {
      if (auto good = inflate_part({&first_, 1}, out, limits); !good) return good;
    }
  }
  return inflate_part(part, out, limits);
}

base::Expected<void> ContentDecoder::finish() {
  const bool ended = coding_ == ContentCoding::kIdentity || phase_ >= Phase::kEnded;
  // A body of no bytes is the answer to HEAD and the like, whatever coding was named.
  if (ended || (phase_ == Phase::kStart && !has_first_)) return {};
  return base::fail(
      "the compressed body ends in the middle: it was cut off, or is not of the coding that "
      "Content-Encoding names");
}

base::Expected<void> ContentDecoder::prepare(int window_bits) {
  if (inflater_ == nullptr) inflater_ = std::make_unique<Inflater>();
  const int result =
      inflater_->ready ? inflateReset2(&inflater_->stream, window_bits) : inflateInit2(&inflater_->stream, window_bits);
  if (result != Z_OK) return base::fail("no memory to decode the compressed body");
  inflater_->ready = true;
  return {};
}

base::Expected<void> ContentDecoder::inflate_part(std::string_view part, std::string& out,
                                                  const ContentCodingLimits& limits) {
  z_stream& stream = inflater_->stream;
  while (!part.empty()) {
    // Another gzip member may follow (RFC 1952 section 2.2); other bytes after the end are padding and dropped.
    const bool member = coding_ == ContentCoding::kGzip && part.front() == '\x1f';
    if (phase_ == Phase::kEnded && !member) phase_ = Phase::kPadding;
    if (phase_ == Phase::kPadding) return {};
    if (phase_ == Phase::kEnded) {
      if (auto good = prepare(kGzipWindow); !good) return good;
    }
    phase_ = Phase::kInside;
    const std::size_t piece = std::min<std::size_t>(part.size(), std::numeric_limits<uInt>::max());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
    stream.avail_in = static_cast<uInt>(piece);
    int result = Z_OK;
    do {
      stream.next_out = reinterpret_cast<Bytef*>(inflater_->scratch);
      stream.avail_out = sizeof inflater_->scratch;
      result = inflate(&stream, Z_NO_FLUSH);
      const std::size_t got = sizeof inflater_->scratch - stream.avail_out;
      if (got > limits.max_output_bytes - std::min(produced_, limits.max_output_bytes)) {
        return too_large(limits.max_output_bytes);
      }
      out.append(inflater_->scratch, got);
      produced_ += got;
    } while (result == Z_OK && stream.avail_out == 0);
    if (result == Z_STREAM_END) {
      phase_ = Phase::kEnded;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      return base::fail(fmt::format("the body is not valid {}: {}",
                                    coding_ == ContentCoding::kGzip ? "gzip" : "deflate",
                                    stream.msg != nullptr ? stream.msg : "unknown format"));
    }
    part.remove_prefix(piece - stream.avail_in);
  }
  return {};
}

}  // namespace muster::protocol
