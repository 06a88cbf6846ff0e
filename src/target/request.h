// One request as received: the start line, the headers and, where a route asks for it, the body. Objects are reused, so
// that a plain request allocates nothing once buffers have grown. Views are valid until clear().
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::target {

class Request {
 public:
  // `target` may be in origin form, absolute form or "*" (RFC 9112 section 3.2).
  void begin(std::string_view method, std::string_view target);
  void add_header(std::string_view name, std::string_view value);
  void clear();

  std::string_view method() const { return view(method_); }
  std::string_view path() const { return view(path_); }
  std::string_view query() const { return view(query_); }  // without the '?'

  std::size_t header_count() const { return headers_.size(); }
  std::string_view header_name(std::size_t index) const { return view(headers_[index].name); }
  std::string_view header_value(std::size_t index) const { return view(headers_[index].value); }
  // The first of that name; `name` in lower case, the received one in any.
  std::optional<std::string_view> header(std::string_view name) const;

  std::string body;              // empty unless the route keeps it
  std::string logged_body;       // how it began, where requests are logged
  std::uint64_t body_bytes = 0;  // how long it was
  std::uint32_t body_crc = 0;    // CRC-32, where the route asks for it or requests are logged
  bool http_1_0 = false;
  bool keep_alive = true;

 private:
  struct Span {
    std::uint32_t at = 0;
    std::uint32_t size = 0;
  };
  struct Header {
    Span name;
    Span value;
  };

  std::string_view view(Span span) const { return std::string_view(text_).substr(span.at, span.size); }
  Span keep(std::string_view text);

  std::string text_;
  Span method_;
  Span path_;
  Span query_;
  std::vector<Header> headers_;
};

// The value of `name` in "a=1&b=2" (a query or a form), percent-decoded, '+' read as a space.
std::optional<std::string> find_parameter(std::string_view pairs, std::string_view name);

}  // namespace muster::target
