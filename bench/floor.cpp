// The floor of an HTTP/1.1 load generator: one thread, one epoll, keep-alive connections that send the same bytes again
// as soon as as many bytes came back as the first response had. Nothing is parsed, timed or recorded, so that no
// generator with one connection per user can cost less. Usage: floor --url http://127.0.0.1:8080/ -c 64 -d 5 [-k]
#include <fcntl.h>
#include <fmt/core.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void give_up(const std::string& message) {
  fmt::print(stderr, "floor: {}\n", message);
  std::exit(1);
}

struct Options {
  std::string host;
  std::string port;
  std::string path = "/";
  bool tls = false;
  bool verify = true;
  std::size_t connections = 1;
  std::chrono::duration<double> duration{5};
};

template <class Number>
Number number(std::string_view option, std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value > 0)) {
    give_up(fmt::format("{} needs a number above 0, not '{}'", option, text));
  }
  return value;
}

void parse_url(std::string_view url, Options& options) {
  const std::size_t scheme = url.find("://");
  if (scheme == url.npos || (url.substr(0, scheme) != "http" && url.substr(0, scheme) != "https")) {
    give_up(fmt::format("--url must begin with http:// or https://, not '{}'", url));
  }
  options.tls = url.substr(0, scheme) == "https";
  url.remove_prefix(scheme + 3);
  const std::size_t slash = std::min(url.find('/'), url.size());
  if (slash < url.size()) options.path = url.substr(slash);
  const std::string_view authority = url.substr(0, slash);
  const std::size_t colon = std::min(authority.rfind(':'), authority.size());
  options.host = authority.substr(0, colon);
  options.port = colon < authority.size() ? authority.substr(colon + 1) : options.tls ? "443" : "80";
}

Options parse(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view option = arguments[i];
    if (option == "-k") {
      options.verify = false;
      continue;
    }
    if (++i == count) give_up(fmt::format("{} needs a value", option));
    const std::string_view value = arguments[i];
    if (option == "--url") {
      parse_url(value, options);
    } else if (option == "-c") {
      options.connections = number<std::size_t>(option, value);
    } else if (option == "-d") {
      options.duration = std::chrono::duration<double>(number<double>(option, value));
    } else {
      give_up(fmt::format("unknown option '{}'; known are --url, -c, -d and -k", option));
    }
  }
  if (options.host.empty()) give_up("--url is missing, as in: floor --url http://127.0.0.1:8080/ -c 64 -d 5");
  return options;
}

using TlsContext = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

TlsContext make_tls_context(const Options& options) {
  TlsContext context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX_set_default_verify_paths(context.get());
  SSL_CTX_set_verify(context.get(), options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  // One read per record instead of two. Nothing is left behind in the buffer: a response is read to its end, and the
  // server has no reason to send more before the next request.
  SSL_CTX_set_read_ahead(context.get(), 1);
  return context;
}

class Connection {
 public:
  // Connects and shakes hands while still blocking; only then the socket becomes non-blocking.
  Connection(const Options& options, SSL_CTX* tls) : fd_(connect_to(options)) {
    if (tls == nullptr) return;
    ssl_ = SSL_new(tls);
    SSL_set_fd(ssl_, fd_);
    SSL_set_tlsext_host_name(ssl_, options.host.c_str());
    if (SSL_connect(ssl_) != 1) {
      std::array<char, 256> reason{};
      ERR_error_string_n(ERR_get_error(), reason.data(), reason.size());
      give_up(fmt::format("TLS handshake failed: {} (-k skips verification)", reason.data()));
    }
  }
  Connection(Connection&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), ssl_(std::exchange(other.ssl_, nullptr)) {}
  Connection& operator=(Connection&&) = delete;
  ~Connection() {
    if (ssl_ != nullptr) SSL_free(ssl_);
    if (fd_ >= 0) close(fd_);
  }

  int fd() const { return fd_; }
  void stop_blocking() { fcntl(fd_, F_SETFL, O_NONBLOCK); }

  void send(std::string_view bytes) {
    const auto size = static_cast<ssize_t>(bytes.size());
    const ssize_t sent = ssl_ != nullptr ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                                         : ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent != size) give_up(fmt::format("sent {} of {} bytes: {}", sent, size, std::strerror(errno)));
  }

  // Bytes received, or 0 when there are none yet.
  std::size_t receive(char* buffer, std::size_t size) {
    if (ssl_ != nullptr) {
      const int received = SSL_read(ssl_, buffer, static_cast<int>(size));
      if (received > 0) return static_cast<std::size_t>(received);
      if (SSL_get_error(ssl_, received) == SSL_ERROR_WANT_READ) return 0;
    } else {
      const ssize_t received = recv(fd_, buffer, size, 0);
      if (received > 0) return static_cast<std::size_t>(received);
      if (received < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    }
    give_up("the server closed a connection: let it keep them alive without limit");
  }

  std::size_t missing = 0;  // bytes of the response that have not come yet

 private:
  static int connect_to(const Options& options) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* addresses = nullptr;
    if (const int error = getaddrinfo(options.host.c_str(), options.port.c_str(), &hints, &addresses); error != 0) {
      give_up(fmt::format("cannot resolve {}: {}", options.host, gai_strerror(error)));
    }
    const int fd = socket(addresses->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) give_up(fmt::format("no socket: {} (raise `ulimit -n`)", std::strerror(errno)));
    const int status = connect(fd, addresses->ai_addr, addresses->ai_addrlen);
    freeaddrinfo(addresses);
    if (status != 0)
      give_up(fmt::format("cannot connect to {}:{}: {}", options.host, options.port, std::strerror(errno)));
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
  }

  int fd_ = -1;
  SSL* ssl_ = nullptr;
};

// The length of a whole response, learnt from the first one.
std::size_t response_bytes(Connection& connection, std::string_view request) {
  connection.send(request);
  std::string response;
  std::array<char, 16384> buffer;
  std::size_t whole = 0;
  while (whole == 0 || response.size() < whole) {
    response.append(buffer.data(), connection.receive(buffer.data(), buffer.size()));
    const std::size_t end = response.find("\r\n\r\n");
    if (whole > 0 || end == response.npos) continue;
    constexpr std::string_view kLength = "\r\nContent-Length: ";
    const std::size_t field = response.find(kLength);
    if (field > end) give_up("the response has no Content-Length; the floor can only count bytes");
    const std::size_t start = field + kLength.size();
    whole =
        end + 4 + number<std::size_t>("Content-Length", response.substr(start, response.find("\r\n", start) - start));
  }
  return whole;
}

// Sends and receives until the deadline; returns the number of whole responses.
std::uint64_t exchange(std::vector<Connection>& connections, std::string_view request, std::size_t expected,
                       Clock::time_point deadline) {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  for (Connection& connection : connections) {
    connection.stop_blocking();
    epoll_event event{.events = EPOLLIN, .data = {.ptr = &connection}};
    epoll_ctl(epoll, EPOLL_CTL_ADD, connection.fd(), &event);
    connection.missing = expected;
    connection.send(request);
  }
  std::uint64_t responses = 0;
  std::array<epoll_event, 512> events;
  static std::array<char, 65536> buffer;
  while (Clock::now() < deadline) {
    const int ready = epoll_wait(epoll, events.data(), static_cast<int>(events.size()), 100);
    for (int i = 0; i < ready; ++i) {
      Connection& connection = *static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr);
      while (const std::size_t received = connection.receive(buffer.data(), buffer.size())) {
        if (received > connection.missing) give_up("a response was longer than the first: serve a fixed document");
        connection.missing -= received;
        if (connection.missing > 0) continue;
        ++responses;
        connection.missing = expected;
        connection.send(request);
        break;
      }
    }
  }
  close(epoll);
  return responses;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = parse(count, arguments);
  const TlsContext tls = options.tls ? make_tls_context(options) : TlsContext(nullptr, SSL_CTX_free);
  const std::string request =
      fmt::format("GET {} HTTP/1.1\r\nHost: {}:{}\r\n\r\n", options.path, options.host, options.port);

  std::vector<Connection> connections;
  connections.reserve(options.connections);
  while (connections.size() < options.connections) connections.emplace_back(options, tls.get());
  const std::size_t expected = response_bytes(connections.front(), request);

  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  const Clock::time_point start = Clock::now();
  const std::uint64_t responses =
      exchange(connections, request, expected, start + std::chrono::duration_cast<Clock::duration>(options.duration));
  const std::chrono::duration<double> elapsed = Clock::now() - start;
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  fmt::print("requests {} seconds {:.3f} user {:.3f} sys {:.3f}\n", responses, elapsed.count(),
             seconds(after.ru_utime) - seconds(before.ru_utime), seconds(after.ru_stime) - seconds(before.ru_stime));
}
