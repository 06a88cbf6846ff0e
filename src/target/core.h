// One thread of the server: its loop, its listening socket, its connections and what they share so that an idle
// connection is small: buffers for input and output, and a shelf of used exchanges. Everything but stop() and the
// counters is called on that thread only, once run() has begun.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "reactor/address.h"
#include "reactor/loop.h"
#include "reactor/tls.h"
#include "reactor/wake.h"
#include "target/options.h"
#include "target/reply_stream.h"
#include "target/request_log.h"
#include "target/routes.h"
#include "target/service_log.h"
#include "target/shared.h"

namespace muster::target {

class Connection;

// A request being read or answered. Idle connections have none.
struct Exchange {
  Request request;
  Plan plan;
  ReplyStream stream;
  const Route* route = nullptr;
  base::Instant began{};  // first byte
  base::Instant start{};  // last byte
  bool body_too_large = false;
};

// Bytes for the connection that is being served right now; empty in between.
struct Output {
  static constexpr std::size_t kBytes = 32 * 1024;

  std::array<char, kBytes> bytes;
  std::size_t size = 0;
  std::vector<std::size_t> unstamped;  // service log numbers of the replies in `bytes`

  std::size_t room() const { return kBytes - size; }
  void append(std::string_view text) {
    text.copy(bytes.data() + size, text.size());
    size += text.size();
  }
};

class Core final : reactor::Watcher, reactor::Timer {
 public:
  Core(const ServerOptions& options, Shared& shared, RequestLogFile& request_log, unsigned index);
  ~Core();

  // Takes `listener`; `tls` outlives the core, null for plain connections.
  base::Expected<void> open(int listener, reactor::TlsContext* tls);
  void run();
  void stop();  // any thread

  std::uint64_t requests() const { return requests_.load(std::memory_order_relaxed); }
  std::uint64_t connections() const { return accepted_.load(std::memory_order_relaxed); }
  std::size_t open_connections() const { return open_.load(std::memory_order_relaxed); }
  const ServiceLog& service_log() const { return service_log_; }

  // For connections.
  const ServerOptions& options() const { return options_; }
  const Limits& limits() const { return options_.limits; }
  Shared& shared() { return shared_; }
  reactor::Loop& loop() { return loop_; }
  reactor::TlsContext* tls() { return tls_; }
  Output& output() { return output_; }
  std::array<char, 16 * 1024>& input() { return input_; }
  bool logs_service() const { return !options_.service_log.empty(); }
  ServiceLog& service_log() { return service_log_; }
  bool logs_requests() const { return !options_.request_log.empty(); }

  std::unique_ptr<Exchange> take_exchange();
  void give_exchange(std::unique_ptr<Exchange> exchange);
  // A complete request: counted, logged, planned.
  void plan(Exchange& exchange);
  void destroy(Connection& connection);
  // "Date: …\r\n" (RFC 9110 section 6.6.1).
  std::string_view date_line();

 private:
  static void on_ready(reactor::Watcher& watcher, std::uint32_t events);
  static void on_accept_retry(reactor::Timer& timer, base::Instant now);
  static void on_woken(void* core);
  void accept_all();
  void add_connection(int fd);

  const ServerOptions& options_;
  Shared& shared_;
  int listener_ = -1;
  reactor::TlsContext* tls_ = nullptr;
  reactor::Loop loop_;
  reactor::Wake wake_;
  base::Random random_;
  RouteState route_state_;

  Connection* first_ = nullptr;
  bool accept_paused_ = false;
  std::vector<std::unique_ptr<Exchange>> shelf_;
  Output output_;
  std::array<char, 16 * 1024> input_;

  ServiceLog service_log_;
  RequestLog request_log_;
  std::string date_;
  base::Instant date_until_{};

  // Written by the core's thread, read by any.
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::uint64_t> accepted_{0};
  std::atomic<std::size_t> open_{0};
};

}  // namespace muster::target
