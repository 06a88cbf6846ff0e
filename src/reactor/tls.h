// TLS over a connected non-blocking socket (OpenSSL 3). Contexts are made before the clock starts and belong to one
// core each, so that no reference count or session cache is shared between cores. Sessions outlive neither their
// context nor the socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

struct ssl_st;
struct ssl_ctx_st;

namespace muster::reactor {

// kCut: closed without the close_notify of TLS; what came may not be all that was sent.
enum class IoStatus : std::uint8_t { kDone, kWouldBlock, kClosed, kCut, kFailed };

struct IoResult {
  IoStatus status = IoStatus::kDone;
  std::size_t bytes = 0;
};

struct TlsOptions {
  bool verify = true;
  std::string ca_file;    // PEM; empty: the system's authorities
  std::string cert_file;  // PEM, client certificate and its chain; empty: none
  std::string key_file;
  bool at_least_1_3 = false;
  bool resume = true;  // offer the latest session of the same host and port on new connections
  // Hosts and ports whose sessions are kept, some KiB each with the certificates; any more are not resumed.
  std::size_t max_sessions = 1024;
};

class TlsContext {
 public:
  // Errors name the file and what OpenSSL said.
  static base::Expected<std::unique_ptr<TlsContext>> client(const TlsOptions& options);
  // A server with a certificate of its own making, for the names localhost, 127.0.0.1 and ::1, valid for a week.
  static base::Expected<std::unique_ptr<TlsContext>> throw_away_server();
  // The server's certificate in PEM, so that clients can be told to trust it.
  const std::string& certificate() const { return certificate_; }

  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

 private:
  friend class TlsSession;
  struct Sessions;
  TlsContext();

  ssl_ctx_st* context_ = nullptr;
  bool verify_ = false;
  std::string certificate_;
  std::unique_ptr<Sessions> sessions_;
};

class TlsSession {
 public:
  TlsSession() = default;
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;
  ~TlsSession() { close(); }

  // Starts a session on `fd`. A client sends `host` as SNI (unless it is an address) and verifies it; what it resumes
  // is a session with the same `host` and `port`.
  bool connect(TlsContext& context, int fd, const std::string& host, std::uint16_t port);
  bool accept(TlsContext& context, int fd);
  void close();

  bool open() const { return ssl_ != nullptr; }
  IoStatus handshake();
  IoResult read(char* into, std::size_t size);
  IoResult write(const char* from, std::size_t size);
  // Bytes already decrypted or buffered: read again without waiting for the socket.
  bool pending() const;
  void send_close();

  // Why the latest call failed: "certificate verify failed: self-signed certificate".
  const std::string& error() const;
  bool resumed() const;

 private:
  bool start(TlsContext& context, int fd);
  IoStatus classify(int result);

  ssl_st* ssl_ = nullptr;
  std::unique_ptr<std::string> error_;
};

}  // namespace muster::reactor
