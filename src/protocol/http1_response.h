// Incremental HTTP/1.x response parser (RFC 9112), the client's side. Feed bytes as they arrive; the sink's callbacks
// are statically dispatched and its views valid during the call only. One parser serves one connection: reset() before
// each response. Sans-IO, about 56 bytes, no heap unless a line is split over two feeds.
//
//   Http1ResponseParser parser(limits);
//   parser.reset(method_is_head);
//   FeedResult r = parser.feed(bytes, sink);    // r.state, r.consumed; error(), error_text() on kError
//   on end of stream: parser.finish(sink)
#pragma once

#include "protocol/http1_parser.h"

namespace muster::protocol {

// Derive from it and hide what is of interest; nothing is virtual.
struct Http1ResponseSink {
  void on_interim(int /*code*/) {}  // 100, 102, 103, …; its headers are checked and dropped
  void on_status(int /*code*/, std::string_view /*reason*/) {}
  void on_header(std::string_view /*name*/, std::string_view /*value*/) {}
  void on_headers_end() {}  // status(), keep_alive(), content_length() hold from here on
  void on_body(std::string_view /*part*/) {}
  void on_trailer(std::string_view /*name*/, std::string_view /*value*/) {}
};

class Http1ResponseParser : public Http1Parser<Http1ResponseParser> {
 public:
  explicit Http1ResponseParser(const Http1Limits& limits) : Http1Parser(limits) {}

  // Makes ready for the next response; `head_request` if it answers a HEAD request and so has no body.
  void reset(bool head_request) { restart(head_request ? kHeadRequest : std::uint16_t{0}); }

  int status() const { return status_; }

  // 101: the message is complete and the bytes after it belong to the new protocol.
  bool upgrade() const { return has(kUpgrade); }

  // Whether the connection may carry another request once this response is complete (RFC 9112 section 9.3).
  bool keep_alive() const {
    if (has(kConnectionClose) || has(kUntilClose) || has(kUpgrade) || phase_ == Phase::kFailed) return false;
    // Both Transfer-Encoding and Content-Length, or Transfer-Encoding in HTTP/1.0: framing in doubt (section 6.1).
    if (has(kTransferEncoding) && (has(kHasLength) || has(kVersion10))) return false;
    return !has(kVersion10) || has(kConnectionKeepAlive);
  }

 private:
  friend class Http1Parser<Http1ResponseParser>;

  // Whether a status line can have `piece` from its byte `place` on, as far as a line feed.
  bool start_may_be(std::size_t place, std::string_view piece);

  template <class Sink>
  bool start_line(std::string_view line, Sink& sink) {
    constexpr std::size_t kCodeAt = 9;  // after "HTTP/1.1 "
    // Too short: where it ends, its CR is the first wrong byte.
    if (line.size() < kCodeAt + 3) return start_may_be(0, line) && start_may_be(line.size(), "\r");
    const char* const text = line.data();
    if (scan::word_at(text) != scan::word_at("HTTP/1.1")) [[unlikely]] {
      if (!read_version(line)) return false;
    }
    const auto hundreds = static_cast<unsigned>(text[kCodeAt] - '0');
    const auto tens = static_cast<unsigned>(text[kCodeAt + 1] - '0');
    const auto ones = static_cast<unsigned>(text[kCodeAt + 2] - '0');
    if (text[8] != ' ' || hundreds - 1 > 8 || tens > 9 || ones > 9) return fail(Http1Error::kBadStatusLine);
    std::string_view reason;
    if (line.size() > kCodeAt + 3) {
      if (text[kCodeAt + 3] != ' ') return fail(Http1Error::kBadStatusLine);
      reason = line.substr(kCodeAt + 4);
      if (scan::find_control(reason.data(), text + line.size()) != text + line.size()) {
        return fail(Http1Error::kBadStatusLine);
      }
    }
    status_ = static_cast<std::uint16_t>(hundreds * 100 + tens * 10 + ones);  // of a good line only, whatever the split
    phase_ = Phase::kFields;
    if (status_ >= 200) [[likely]] {
      sink.on_status(status_, reason);
    } else if (status_ == 101) {
      set(kUpgrade);
      sink.on_status(status_, reason);
    } else {
      set(kInterim);
    }
    return true;
  }

  bool header_hook(std::string_view, std::string_view) { return true; }

  template <class Sink>
  void headers_end(Sink& sink) {
    if (has(kInterim)) [[unlikely]] {
      const int code = status_;
      if (end_interim()) sink.on_interim(code);
      return;
    }
    if (choose_body()) sink.on_headers_end();
  }

  // RFC 9112 section 6.3, in its order.
  bool choose_body() {
    if (has(kHeadRequest) || has(kUpgrade) || status_ == 204 || status_ == 304) {
      phase_ = Phase::kDone;
      return true;
    }
    if (has(kHasLength) && !has(kTransferEncoding)) [[likely]]
      return begin_length_body();
    header_bytes_ = 0;
    if (has(kChunkedLast)) {
      phase_ = Phase::kChunkSize;
    } else {
      set(kUntilClose);
      phase_ = Phase::kCloseBody;
    }
    return true;
  }

  bool end_interim();
  bool read_version(std::string_view line);
};

}  // namespace muster::protocol
