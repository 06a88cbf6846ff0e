// What the embedded server can be told, and the limits of everything it reads, holds or sends. One ServerOptions is
// copied by the Server and then only read.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/time.h"
#include "protocol/options.h"

namespace muster::target {

class Request;

struct Limits {
  // Request line, headers and body. Larger admits stranger clients, at that much memory per connection in the worst
  // case; bodies are counted and dropped unless a route reads them.
  protocol::Http1Limits http;

  // Body that a route reads whole (/echo, /login), in bytes; more is answered with 413. Held per request in flight.
  std::size_t max_kept_body_bytes = 1024 * 1024;

  // Body that a URL may ask for (/bytes/{n}, /chunked/{n}, /drip/{n}), in bytes. Bodies are made while they are sent,
  // so this guards the time of one reply, not memory.
  std::uint64_t max_reply_bytes = std::uint64_t{16} * 1024 * 1024 * 1024;

  // Longest time a URL may ask for (/delay, /drip, /stall-all).
  base::Duration max_delay = std::chrono::hours(1);

  // A connection on which nothing moves for this long is closed; replies that are being delayed, and /stall, are not
  // idle. Shorter frees descriptors sooner, longer lets clients think between requests.
  base::Duration idle_timeout = std::chrono::seconds(75);

  // A request must be complete this long after its first byte; otherwise 408.
  base::Duration request_timeout = std::chrono::seconds(60);

  // After the last reply of a connection the server stops sending and reads on for at most this long and this many
  // bytes, so that the reply is not lost to a reset (RFC 9112 section 9.6).
  base::Duration drain_timeout = std::chrono::seconds(2);
  std::uint64_t max_drain_bytes = 4 * 1024 * 1024;

  // Connections per core; further ones wait in the kernel's queue.
  std::size_t max_connections = 100'000;

  // Without free descriptors accepting pauses this long, or until a connection closes.
  base::Duration accept_pause = std::chrono::milliseconds(50);

  // How much of a body stands in the request log, in bytes. Its length and CRC-32 are those of all of it.
  std::size_t max_logged_body_bytes = 64 * 1024;

  // Requests in the service log, per core (32 bytes each); later ones are served but not logged.
  std::size_t max_logged_requests = 20'000'000;

  // Different paths in the service log, per core; requests to further ones are logged as "(other)".
  std::size_t max_logged_paths = 10'000;
};

// The whole server stops serving `at` after the first request, for `length`.
struct StallWindow {
  base::Duration at{};
  base::Duration length{};
};

struct ServerOptions {
  std::string host = "127.0.0.1";  // an address, not a name
  std::uint16_t port = 0;          // 0: any free one
  unsigned cores = 1;              // threads, each with a listening socket of its own (SO_REUSEPORT)
  bool tls = false;                // with a throw-away certificate
  std::uint64_t seed = 1;          // of random delays and failures; core n uses a sequence of its own
  std::optional<StallWindow> stall;

  // CSV of what each request really took, written by stop(): path, start_ns, service_ns, delay_ns. Kept in memory until
  // then. Empty: none.
  std::string service_log;

  // Requests as received, one JSON object per line, in the order each core saw them. Empty: none.
  std::string request_log;

  // Called for each complete request, before its reply, by one core at a time; must be quick. Empty: none.
  std::function<void(const Request&)> on_request;

  Limits limits;
};

}  // namespace muster::target
