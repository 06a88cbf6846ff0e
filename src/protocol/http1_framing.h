// What HTTP/1 requests and responses have in common while they are read: limits, counters, the framing headers
// (Content-Length, Transfer-Encoding, Connection) and what they decide. Base of the two parsers; holds no heap memory
// unless a line arrived in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/http1_error.h"
#include "protocol/http1_scan.h"
#include "protocol/options.h"

namespace muster::protocol {

enum class ParseState : std::uint8_t { kNeedMore, kComplete, kError };

struct FeedResult {
  using State = ParseState;

  std::size_t consumed;  // bytes that belong to this message; less than given only after its end or an error
  State state;
};

class Http1Framing {
 public:
  Http1Error error() const { return error_; }
  std::string_view error_text() const { return describe(error_); }

  // The declared length of the body, also where none follows (HEAD, 304); nothing if Transfer-Encoding overrode it.
  std::optional<std::uint64_t> content_length() const {
    if (!has(kHasLength) || has(kTransferEncoding)) return std::nullopt;
    return content_length_;
  }

  bool chunked() const { return has(kChunkedLast); }
  bool complete() const { return phase_ == Phase::kDone; }

  // Whether any byte of the message has been seen.
  bool started() const { return phase_ != Phase::kStartLine || header_bytes_ != 0 || partial_size() != 0; }

  // Body bytes announced and not yet seen, where the length is known.
  std::uint64_t remaining() const { return remaining_; }

 protected:
  enum class Phase : std::uint8_t {
    kStartLine,
    kFields,
    kLengthBody,
    kCloseBody,
    kChunkSize,
    kChunkData,
    kChunkCr,
    kChunkLf,
    kTrailers,
    kDone,
    kFailed,
  };

  enum Flag : std::uint16_t {
    kHeadRequest = 1 << 0,
    kVersion10 = 1 << 1,
    kHasLength = 1 << 2,
    kTransferEncoding = 1 << 3,
    kChunkedSeen = 1 << 4,
    kChunkedLast = 1 << 5,
    kForeignCoding = 1 << 6,
    kConnectionClose = 1 << 7,
    kConnectionKeepAlive = 1 << 8,
    kInterim = 1 << 9,
    kUntilClose = 1 << 10,
    kUpgrade = 1 << 11,
    kHost = 1 << 12,
    kExpectContinue = 1 << 13,
  };

  enum class Take : std::uint8_t { kLine, kNeedMore, kError };

  explicit Http1Framing(const Http1Limits& limits) : limits_(&limits) {}

  bool has(Flag flag) const { return (flags_ & flag) != 0; }
  void set(Flag flag) { flags_ = static_cast<std::uint16_t>(flags_ | flag); }
  void clear(Flag flag) { flags_ = static_cast<std::uint16_t>(flags_ & ~flag); }

  void restart(std::uint16_t flags) {
    content_length_ = 0;
    remaining_ = 0;
    body_bytes_ = 0;
    header_bytes_ = 0;
    header_count_ = 0;
    status_ = 0;
    flags_ = flags;
    phase_ = Phase::kStartLine;
    error_ = Http1Error::kNone;
    interim_count_ = 0;
    if (partial_ != nullptr) partial_.reset();
  }

  bool fail(Http1Error error) {
    error_ = error;
    phase_ = Phase::kFailed;
    return false;
  }

  std::size_t partial_size() const { return partial_ == nullptr ? 0 : partial_->size(); }

  // The next line without its end, from the input alone or joined to what earlier feeds left. Valid until drop_line().
  // Lines are judged only once complete, so that every split of the input gives the same events and the same error. A
  // start line may be refused before: at its first wrong byte, in every split.
  Take take_line(const char*& at, const char* end, std::string_view& line, bool allow_bare_lf);
  void drop_line() {
    if (partial_ != nullptr) partial_->clear();
  }

  // Counts a start line or header line of `bytes` including its end.
  bool count_line(std::size_t bytes) {
    header_bytes_ += static_cast<std::uint32_t>(bytes);
    if (header_bytes_ > limits_->max_header_bytes) [[unlikely]]
      return fail(Http1Error::kHeadersTooLarge);
    return true;
  }

  // Called for every header; `name` is a token.
  [[gnu::always_inline]] bool note_header(std::string_view name, std::string_view value) {
    constexpr std::uint32_t kSizes = 1u << 10 | 1u << 14 | 1u << 17;
    if (name.size() > 17 || (kSizes >> name.size() & 1) == 0) return true;
    return note_framing_header(name, value);
  }

  bool note_framing_header(std::string_view name, std::string_view value) {
    const char first = static_cast<char>(name.front() | 0x20);
    switch (name.size()) {
      case 10:
        if (first == 'c' && scan::is_field(name.data(), "connection")) {
          if (value.size() == 10 && scan::is_field(value.data(), "keep-alive")) [[likely]] {
            set(kConnectionKeepAlive);
          } else {
            note_connection(value);
          }
        }
        return true;
      case 14:
        if (first == 'c' && scan::is_field(name.data(), "content-length")) return note_content_length(value);
        return true;
      case 17:
        if (first == 't' && scan::equals_ignoring_case(name, "transfer-encoding")) return note_transfer_encoding(value);
        return true;
      default:
        return true;
    }
  }

  bool note_content_length(std::string_view value) {
    // One plain number, the only form that matters for speed.
    if (value.size() - 1 < 18 && !has(kHasLength)) [[likely]] {
      std::uint64_t length = 0;
      for (const char c : value) {
        const auto digit = static_cast<unsigned>(c - '0');
        if (digit > 9) return note_content_length_list(value);
        length = length * 10 + digit;
      }
      content_length_ = length;
      set(kHasLength);
      return true;
    }
    return note_content_length_list(value);
  }

  // `line` that is no good header line: says why.
  static Http1Error judge_field_line(std::string_view line);

  // The number at the start of a chunk-size line, and the rest held to its limits.
  bool read_chunk_line(std::string_view line);
  bool begin_chunk(std::uint64_t size);

  bool begin_length_body();

  const Http1Limits* limits_;
  std::unique_ptr<std::string> partial_;  // the piece of a line that earlier feeds left; gone when the message ends
  std::uint64_t content_length_ = 0;
  std::uint64_t remaining_ = 0;
  std::uint64_t body_bytes_ = 0;
  std::uint32_t header_bytes_ = 0;  // after the headers: bytes of chunk extensions, then of trailers
  std::uint32_t header_count_ = 0;
  std::uint16_t status_ = 0;
  std::uint16_t flags_ = 0;
  Phase phase_ = Phase::kStartLine;
  Http1Error error_ = Http1Error::kNone;
  std::uint8_t interim_count_ = 0;

 private:
  void note_connection(std::string_view value);
  bool note_content_length_list(std::string_view value);
  bool note_transfer_encoding(std::string_view value);
};

}  // namespace muster::protocol
