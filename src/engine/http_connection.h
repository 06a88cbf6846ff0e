// One connection of a VU, plain or TLS, and the exchange it carries. A state machine moved on by the loop; it reports
// to its HttpClient, which owns and reuses it. A few hundred bytes when idle: bytes are received into the core's
// buffer.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/http_client.h"
#include "protocol/http1_response.h"
#include "reactor/loop.h"
#include "reactor/timers.h"
#include "reactor/tls.h"

namespace muster::engine {

class HttpConnection final : public reactor::Watcher, public reactor::Timer {
 public:
  explicit HttpConnection(HttpClient& client);
  ~HttpConnection();

  // Takes the connection for `vu` and links it into the VU's list. It opens with the first request.
  void attach(Vu& vu, HttpOrigin& origin);

  // Sends `request` for `call`; the bytes must stay valid until it is reported. False if it failed at once: `outcome`
  // says why and the connection is gone: whoever reports keeps the call at hand.
  bool send(Call& call, std::string_view request, Outcome& outcome);
  // Keeps the bytes of a request that was rendered for this call alone.
  std::string& own_request() { return own_request_; }
  // How many bytes at the end of the Cookie line of the request under way came from the jar; those before them are the
  // step's own. To be told whenever own_request() was filled.
  std::size_t jar_cookie_bytes() const { return request_.data() == own_request_.data() ? jar_cookie_bytes_ : 0; }
  void set_jar_cookie_bytes(std::size_t bytes) { jar_cookie_bytes_ = bytes; }

  bool idle() const { return state_ == State::kIdle; }
  const HttpOrigin* origin() const { return origin_; }
  HttpConnection* next() const { return next_; }
  std::string_view request() const { return request_; }
  // Path and query of the request under way.
  std::string_view request_target() const;
  int status() const { return parser_.status(); }
  // What a call that goes on with another exchange, after a redirect or on a fresh connection, brings along.
  struct SoFar {
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    std::uint32_t connections = 0;
    int redirects = 0;
  };
  SoFar so_far() const;
  // What the exchange under way has come to, the phase that it is in included, as if it ended now.
  void measure(Outcome& outcome) const;
  // The first bytes of the response so far, to be shown.
  std::string_view evidence() const;
  // To be told before send().
  void go_on_from(const SoFar& before) { before_ = before; }
  // The call goes on elsewhere: becomes idle if the connection is still good, else closes.
  void let_go();

  // Closes without reporting, unlinks from the VU and goes back to the pool.
  void close();
  // The origin's addresses arrived, or there are none.
  void resolved();

  static void on_ready(reactor::Watcher& watcher, std::uint32_t events);
  static void on_deadline(reactor::Timer& timer, base::Instant now);

 private:
  friend struct HttpSink;
  enum class State : std::uint8_t { kFree, kNew, kResolving, kConnecting, kHandshake, kSending, kReceiving, kIdle };

  void ready(std::uint32_t events);
  bool begin_connect(Outcome& outcome);
  bool try_address(Outcome& outcome);
  void connect_ready();
  bool connected(Outcome& outcome);
  void continue_handshake();
  bool start_sending(Outcome& outcome);
  bool continue_sending(Outcome& outcome);
  void receive();
  // Reads what came with the event that finished an earlier phase: no other edge will tell of it.
  void receive_rest(std::uint32_t events);
  reactor::IoResult read_some();
  // `cut`: without the close_notify of TLS.
  void peer_closed(bool cut);
  void complete(std::size_t surplus);
  // The response is one of several to what was sent, but not the last one.
  void complete_one();
  void give_response(const Call& call, Outcome& outcome);
  bool redirected() const;
  // Whether another request may follow the response that is complete.
  bool reusable() const;
  void fill(Outcome& outcome) const;
  bool can_send_again() const;
  bool idempotent() const;
  void send_again();
  void fail(model::ErrorClass error, std::string detail);
  bool failed(Outcome& outcome, model::ErrorClass error, std::string detail);
  void transport_failed(int error);
  void arm(base::Instant deadline);
  void set_limit(base::Duration phase_limit);
  void shut();
  void unlink();

  // What every exchange touches, together: thousands of connections take turns in the cache.
  HttpClient& client_;
  HttpOrigin* origin_ = nullptr;
  Vu* vu_ = nullptr;
  HttpConnection* next_ = nullptr;
  Call* call_ = nullptr;
  const PreparedHttp* prepared_ = nullptr;
  std::string_view request_;
  std::size_t sent_ = 0;
  protocol::Http1ResponseParser parser_;
  reactor::TlsSession tls_;
  int fd_ = -1;
  State state_ = State::kFree;
  bool collect_body_ = false;
  bool collect_headers_ = false;
  bool collected_ = false;  // headers_, location_, body_ or opening_ may hold something
  bool reused_ = false;
  bool opened_ = false;   // in this exchange
  bool hung_up_ = false;  // the peer closed its side
  bool stray_ = false;    // bytes behind the response belong to no request
  std::uint8_t coding_ = 0;
  std::uint16_t tried_ = 0;   // addresses tried for this connection
  base::Instant deadline_{};  // of the exchange under way
  base::Instant timer_at_{};  // when the timer will look
  base::Instant sent_at_{};   // the request's last byte; its first one until then
  base::Instant first_byte_{};
  std::uint64_t bytes_in_ = 0;
  std::uint64_t body_bytes_ = 0;
  std::uint32_t answers_left_ = 1;
  std::size_t last_read_ = 0;  // bytes of this exchange in the client's buffer
  SoFar before_;               // what the call did before this exchange

  // What some need.
  base::Instant phase_began_{};
  std::array<base::Duration, 3> setup_{};  // dns, connect, tls; negative: did not happen
  std::string own_request_;
  std::size_t jar_cookie_bytes_ = 0;  // of own_request_
  std::string headers_;               // those that are captured
  std::string location_;
  std::string body_;  // collected parts
  std::string_view body_view_;
  std::string opening_;  // the first bytes of a response that came in parts
};

}  // namespace muster::engine
