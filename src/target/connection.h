// One client's connection: reads requests one after the other, carries out the plan of each, and ends. Belongs to its
// Core, which allocates and destroys it; idle it holds no buffers. All on the core's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "protocol/http1_request.h"
#include "reactor/loop.h"
#include "reactor/tls.h"
#include "target/core.h"

namespace muster::target {

class Connection final : public reactor::Watcher {
 public:
  // Owns `fd` from now on.
  Connection(Core& core, int fd);
  ~Connection();

  bool open();
  // Goes on as far as possible without waiting; may destroy the connection.
  void serve();

  static void on_ready(reactor::Watcher& watcher, std::uint32_t events);

 private:
  friend class Core;  // links its connections

  enum class Phase : std::uint8_t {
    kHandshake,
    kReading,
    kPausing,  // until the timer: a delay or the next drop of a drip
    kHead,     // the reply's head and small body are to be written
    kFiller,   // then its filler
    kEnding,   // then what comes after the reply
    kHolding,  // nothing more from here; waits for the client to go
    kDraining,
  };
  enum class Step : std::uint8_t { kAgain, kWait, kGone };
  enum class Sent : std::uint8_t { kAll, kBlocked, kFailed };

  struct ConnectionTimer : reactor::Timer {
    ConnectionTimer(Fire fire, Connection& connection) : Timer(fire), owner(connection) {}
    Connection& owner;
  };
  struct Sink;

  Step handshake();
  Step read();
  Step write_head();
  Step write_filler();
  Step end_reply();
  Step drain();

  // Parses and answers until `bytes` is used up or a reply has to wait; returns how many were used.
  std::size_t feed(std::string_view bytes, base::Instant read_at);
  void begin_reply(base::Instant read_at);
  void refuse_bad_request();
  void finish_exchange();
  std::string_view connection_line() const;
  // Whether the whole of a small reply went into the output buffer.
  bool append_head();
  reactor::IoResult receive(char* into, std::size_t size);
  reactor::IoResult send(std::string_view bytes);
  Sent flush();
  void stamp_sent();
  void keep_unsent(std::string_view rest);
  void pause_until(base::Instant when, Phase next);
  static void on_pause_over(reactor::Timer& timer, base::Instant now);
  static void on_idle(reactor::Timer& timer, base::Instant now);

  Core& core_;
  Connection* next_ = nullptr;
  Connection* previous_ = nullptr;
  int fd_;
  Phase phase_ = Phase::kReading;
  Phase after_pause_ = Phase::kHead;
  bool peer_closed_ = false;
  Ending ending_ = Ending::kKeep;  // of the latest reply

  protocol::Http1RequestParser parser_;
  std::unique_ptr<Exchange> exchange_;
  std::string held_;    // input read but not parsed yet, while a reply is under way; at most one input buffer
  std::string unsent_;  // output the kernel would not take; bounded by the output buffer or one whole small reply
  std::size_t unsent_at_ = 0;
  std::unique_ptr<std::vector<std::size_t>> unstamped_;  // replies whose last bytes are in unsent_
  std::uint64_t drained_ = 0;

  ConnectionTimer pause_;
  ConnectionTimer idle_;
  base::Instant active_;   // last time a byte moved
  base::Instant began_{};  // first byte of the request being read
  reactor::TlsSession tls_;
};

}  // namespace muster::target
