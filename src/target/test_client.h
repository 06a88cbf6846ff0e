// A blocking HTTP client for this room's tests: sends what it is told to, byte for byte, and reads replies one after
// the other. Every wait is bounded by kPatience, after which the test fails instead of hanging.
#pragma once

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/http1_response.h"
#include "reactor/address.h"
#include "reactor/tls.h"

namespace muster::target {

struct Reply : protocol::Http1ResponseSink {
  int status = 0;  // 0: none came
  std::vector<int> interim;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool complete = false;
  bool keep_alive = false;
  protocol::Http1Error error = protocol::Http1Error::kNone;

  void on_interim(int code) { interim.push_back(code); }
  void on_status(int code, std::string_view) { status = code; }
  void on_header(std::string_view name, std::string_view value) { headers.emplace_back(name, value); }
  void on_body(std::string_view part) { body += part; }

  std::string header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (key == name) return value;
    }
    return "";
  }
};

class TestClient {
 public:
  static constexpr timeval kPatience{20, 0};

  explicit TestClient(std::uint16_t port, int receive_buffer = 0) : port_(port) {
    const auto address = reactor::Address::parse("127.0.0.1", port);
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
    if (receive_buffer != 0) setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
    connected_ = ::connect(fd_, address->get(), address->size()) == 0;
  }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;
  ~TestClient() {
    tls_.close();
    if (fd_ >= 0) ::close(fd_);
  }

  bool connected() const { return connected_; }
  int fd() const { return fd_; }

  bool start_tls(reactor::TlsContext& context) {
    return tls_.connect(context, fd_, "localhost", port_) && tls_.handshake() == reactor::IoStatus::kDone;
  }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      std::size_t count = 0;
      if (tls_.open()) {
        count = tls_.write(bytes.data(), bytes.size()).bytes;
      } else {
        const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        count = sent < 0 ? 0 : static_cast<std::size_t>(sent);
      }
      if (count == 0) return false;
      bytes.remove_prefix(count);
    }
    return true;
  }

  // The next bytes; empty at the end or on an error, which is in last_errno (0 at the end).
  std::string receive() {
    std::array<char, 16384> buffer;
    if (tls_.open()) {
      const auto got = tls_.read(buffer.data(), buffer.size());
      last_errno = got.status == reactor::IoStatus::kFailed ? EIO : 0;
      return {buffer.data(), got.bytes};
    }
    const ssize_t count = recv(fd_, buffer.data(), buffer.size(), 0);
    last_errno = count < 0 ? errno : 0;
    return {buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
  }

  std::string receive_all() {
    std::string all = std::exchange(rest_, {});
    while (true) {
      const std::string piece = receive();
      if (piece.empty()) return all;
      all += piece;
    }
  }

  Reply read_reply(bool head_request = false) {
    const protocol::Http1Limits limits;
    protocol::Http1ResponseParser parser(limits);
    parser.reset(head_request);
    Reply reply;
    while (true) {
      if (rest_.empty()) rest_ = receive();
      if (rest_.empty()) {
        parser.finish(reply);
        break;
      }
      const auto fed = parser.feed(rest_, reply);
      rest_.erase(0, fed.consumed);
      if (fed.state != protocol::ParseState::kNeedMore) break;
    }
    reply.complete = parser.complete();
    reply.keep_alive = parser.keep_alive();
    reply.error = parser.error();
    return reply;
  }

  Reply get(std::string_view target, std::string_view headers = "") { return ask("GET", target, headers); }

  Reply ask(std::string_view method, std::string_view target, std::string_view headers = "",
            std::string_view body = "") {
    const std::string length = body.empty() ? "" : fmt::format("Content-Length: {}\r\n", body.size());
    send(fmt::format("{} {} HTTP/1.1\r\nHost: test\r\n{}{}\r\n{}", method, target, headers, length, body));
    return read_reply(method == "HEAD");
  }

  // Whether nothing more comes and the server closed in order.
  bool at_end() { return rest_.empty() && receive().empty() && last_errno == 0; }

  int last_errno = 0;

 private:
  std::uint16_t port_;
  int fd_ = -1;
  bool connected_ = false;
  std::string rest_;
  reactor::TlsSession tls_;
};

}  // namespace muster::target
