// Incremental HTTP/1.x request parser (RFC 9112), the server's side; the twin of Http1ResponseParser and as strict as
// a server must be: whatever two parsers could read in two ways is refused. Views given to the sink are valid during
// the call only. One parser serves one connection: reset() before each request.
#pragma once

#include "protocol/http1_parser.h"

namespace muster::protocol {

// Derive from it and hide what is of interest; nothing is virtual.
struct Http1RequestSink {
  void on_request(std::string_view /*method*/, std::string_view /*target*/) {}
  void on_header(std::string_view /*name*/, std::string_view /*value*/) {}
  void on_headers_end() {}  // keep_alive(), content_length(), expects_continue() hold from here on
  void on_body(std::string_view /*part*/) {}
  void on_trailer(std::string_view /*name*/, std::string_view /*value*/) {}
};

class Http1RequestParser : public Http1Parser<Http1RequestParser> {
 public:
  explicit Http1RequestParser(const Http1Limits& limits) : Http1Parser(limits) {}

  void reset() { restart(0); }

  // The client waits for "100 Continue" before it sends the body (RFC 9110 section 10.1.1).
  bool expects_continue() const { return has(kExpectContinue); }

  bool http_1_0() const { return has(kVersion10); }

  // Whether the client wants the connection kept after the response (RFC 9112 section 9.3).
  bool keep_alive() const {
    if (has(kConnectionClose) || phase_ == Phase::kFailed) return false;
    return !has(kVersion10) || has(kConnectionKeepAlive);
  }

 private:
  friend class Http1Parser<Http1RequestParser>;

  bool start_may_be(std::size_t, std::string_view) { return true; }

  template <class Sink>
  bool start_line(std::string_view line, Sink& sink) {
    // Empty lines before a request are ignored (RFC 9112 section 2.2); max_header_bytes bounds them.
    if (line.empty()) return true;
    const char* const end = line.data() + line.size();
    const char* const method_end = scan::skip_token(line.data(), end);
    if (method_end == line.data() || method_end == end || *method_end != ' ') return fail(Http1Error::kBadRequestLine);
    const char* const target = method_end + 1;
    const auto* const target_end =
        static_cast<const char*>(std::memchr(target, ' ', static_cast<std::size_t>(end - target)));
    if (target_end == nullptr || target_end == target) return fail(Http1Error::kBadRequestLine);
    const std::string_view path(target, static_cast<std::size_t>(target_end - target));
    if (!good_target(path)) return fail(Http1Error::kBadRequestLine);
    if (!read_version({target_end + 1, static_cast<std::size_t>(end - target_end - 1)})) return false;
    phase_ = Phase::kFields;
    sink.on_request(std::string_view(line.data(), static_cast<std::size_t>(method_end - line.data())), path);
    return true;
  }

  bool header_hook(std::string_view name, std::string_view value) {
    if (name.size() == 4 && scan::equals_ignoring_case(name, "host")) {
      if (has(kHost)) return fail(Http1Error::kDuplicateHost);
      set(kHost);
    } else if (name.size() == 6 && scan::equals_ignoring_case(name, "expect")) {
      if (scan::equals_ignoring_case(value, "100-continue") && !has(kVersion10)) set(kExpectContinue);
    }
    return true;
  }

  template <class Sink>
  void headers_end(Sink& sink) {
    if (choose_body()) sink.on_headers_end();
  }

  bool choose_body();
  bool read_version(std::string_view version);
  static bool good_target(std::string_view target);
};

}  // namespace muster::protocol
