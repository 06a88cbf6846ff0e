// The embedded HTTP/1.1 server, for demonstrations and tests: what a URL asks for is what happens (docs/target.md).
// Runs on threads of its own between start() and stop(); the object must outlive them, which the destructor sees to.
// start() and stop() are called by one thread; the counters by any.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "target/options.h"

namespace muster::reactor {
class TlsContext;
}

namespace muster::target {

class Core;
class RequestLogFile;
class Shared;

class Server {
 public:
  explicit Server(ServerOptions options = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Once per object. Listens when it returns; errors say what could not be had.
  base::Expected<void> start();

  // Ends all connections at once and writes the logs; an error means that a log is not complete. Idempotent.
  base::Expected<void> stop();

  std::uint16_t port() const { return port_; }
  // "http://127.0.0.1:8080", without a '/' at the end.
  std::string url() const;
  // Of a TLS server, PEM; empty otherwise.
  std::string certificate() const;

  std::uint64_t requests() const;
  std::uint64_t connections() const;  // accepted so far
  std::size_t open_connections() const;

  // The whole server stands still for `length` from now on, as by /stall-all.
  void stall(base::Duration length);

 private:
  base::Expected<void> open_cores();
  base::Expected<void> open_logs();
  base::Expected<void> write_service_log();

  const ServerOptions options_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Shared> shared_;
  std::unique_ptr<RequestLogFile> request_log_;
  struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, FileCloser> service_log_;  // opened by start(), so that a bad path is told before the run
  std::unique_ptr<reactor::TlsContext> tls_;
  std::vector<std::unique_ptr<Core>> cores_;
  std::vector<std::thread> threads_;
};

}  // namespace muster::target
