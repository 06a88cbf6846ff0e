// What the bare programs share, beside which generators are measured: mistakes on the command line, the server's
// address, and how long a response is. They end at the first thing that goes wrong, since a disturbed measurement says
// nothing.
#pragma once

#include <fmt/core.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

namespace muster::bench {

[[noreturn]] inline void give_up(const std::string& message) {
  fmt::print(stderr, "{}\n", message);
  std::exit(1);
}

template <class Number>
Number number(std::string_view what, std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value > 0)) {
    give_up(fmt::format("{} needs a number above 0, not '{}'", what, text));
  }
  return value;
}

struct Url {
  bool tls = false;
  std::string host;
  std::string port;
  std::string path = "/";

  std::string request() const { return fmt::format("GET {} HTTP/1.1\r\nHost: {}:{}\r\n\r\n", path, host, port); }
};

inline Url parse_url(std::string_view text) {
  const std::size_t scheme = text.find("://");
  if (scheme == text.npos || (text.substr(0, scheme) != "http" && text.substr(0, scheme) != "https")) {
    give_up(fmt::format("--url must begin with http:// or https://, not '{}'", text));
  }
  Url url;
  url.tls = text.substr(0, scheme) == "https";
  text.remove_prefix(scheme + 3);
  const std::size_t slash = std::min(text.find('/'), text.size());
  if (slash < text.size()) url.path = text.substr(slash);
  const std::string_view authority = text.substr(0, slash);
  const std::size_t colon = std::min(authority.rfind(':'), authority.size());
  url.host = authority.substr(0, colon);
  url.port = colon < authority.size() ? authority.substr(colon + 1) : url.tls ? "443" : "80";
  return url;
}

// The first address of a server, looked up once.
class Server {
 public:
  explicit Server(const Url& url) : name_(fmt::format("{}:{}", url.host, url.port)) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int error = getaddrinfo(url.host.c_str(), url.port.c_str(), &hints, &found); error != 0) {
      give_up(fmt::format("cannot resolve {}: {}", url.host, gai_strerror(error)));
    }
    std::memcpy(&address_, found->ai_addr, found->ai_addrlen);
    size_ = found->ai_addrlen;
    freeaddrinfo(found);
  }

  // With SOCK_NONBLOCK among `flags`, the connection may still be under way.
  int connect(int flags) const {
    const int fd = socket(address_.ss_family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    if (fd < 0) give_up(fmt::format("no socket: {} (raise `ulimit -n`)", std::strerror(errno)));
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address_), size_) != 0 && errno != EINPROGRESS) {
      give_up(fmt::format("cannot connect to {}: {}", name_, std::strerror(errno)));
    }
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
  }

 private:
  std::string name_;
  sockaddr_storage address_{};
  socklen_t size_ = 0;
};

// The length of the whole response that begins like this; 0 while its head is not complete.
inline std::size_t response_bytes(std::string_view begun) {
  const std::size_t end = begun.find("\r\n\r\n");
  if (end == begun.npos) return 0;
  constexpr std::string_view kLength = "\r\nContent-Length: ";
  const std::size_t field = begun.find(kLength);
  if (field > end) give_up("the response has no Content-Length; these programs can only count bytes");
  const std::size_t start = field + kLength.size();
  const std::string_view length = begun.substr(start, begun.find("\r\n", start) - start);
  return end + 4 + number<std::size_t>("Content-Length", length);
}

}  // namespace muster::bench
