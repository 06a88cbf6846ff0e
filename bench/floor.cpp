// The floor of an HTTP/1.1 load generator: one thread, one epoll, keep-alive connections that send the same bytes again
// as soon as as many bytes came back as the first response had. Nothing is parsed, timed or recorded, so that no
// generator with one connection per user can cost less. Usage: floor --url http://127.0.0.1:8080/ -c 64 -d 5 [-k]
#include <fcntl.h>
#include <fmt/core.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
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

#include "bare.h"

namespace {

using muster::bench::give_up;
using muster::bench::number;
using muster::bench::Server;
using muster::bench::Url;
using Clock = std::chrono::steady_clock;

struct Options {
  Url url;
  bool verify = true;
  std::size_t connections = 1;
  std::chrono::duration<double> duration{5};
};

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
      options.url = muster::bench::parse_url(value);
    } else if (option == "-c") {
      options.connections = number<std::size_t>(option, value);
    } else if (option == "-d") {
      options.duration = std::chrono::duration<double>(number<double>(option, value));
    } else {
      give_up(fmt::format("unknown option '{}'; known are --url, -c, -d and -k", option));
    }
  }
  if (options.url.host.empty()) give_up("--url is missing, as in: floor --url http://127.0.0.1:8080/ -c 64 -d 5");
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
  Connection(const Server& server, const std::string& host, SSL_CTX* tls) : fd_(server.connect(0)) {
    if (tls == nullptr) return;
    ssl_ = SSL_new(tls);
    SSL_set_fd(ssl_, fd_);
    SSL_set_tlsext_host_name(ssl_, host.c_str());
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
  int fd_ = -1;
  SSL* ssl_ = nullptr;
};

// The length of a whole response, learnt from the first one.
std::size_t learn_response(Connection& connection, std::string_view request) {
  connection.send(request);
  std::string response;
  std::array<char, 16384> buffer;
  std::size_t whole = 0;
  while (whole == 0 || response.size() < whole) {
    response.append(buffer.data(), connection.receive(buffer.data(), buffer.size()));
    whole = muster::bench::response_bytes(response);
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
  const TlsContext tls = options.url.tls ? make_tls_context(options) : TlsContext(nullptr, SSL_CTX_free);
  const std::string request = options.url.request();
  const Server server(options.url);

  std::vector<Connection> connections;
  connections.reserve(options.connections);
  while (connections.size() < options.connections) connections.emplace_back(server, options.url.host, tls.get());
  const std::size_t expected = learn_response(connections.front(), request);

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
