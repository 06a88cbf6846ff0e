#include "target/connection.h"

#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>

namespace muster::target {
namespace {

using reactor::IoResult;
using reactor::IoStatus;

// One connection gives way to others after this much, however fast its client is.
constexpr std::size_t kBytesPerTurn = 1024 * 1024;
constexpr int kReadsPerTurn = 64;

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

// Receives the events of the parser for the connection it belongs to.
struct Connection::Sink : protocol::Http1RequestSink {
  explicit Sink(Connection& connection) : self(connection) {}

  void on_request(std::string_view method, std::string_view target) {
    if (self.exchange_ == nullptr) self.exchange_ = self.core_.take_exchange();
    self.exchange_->request.begin(method, target);
  }

  void on_header(std::string_view name, std::string_view value) { self.exchange_->request.add_header(name, value); }

  void on_headers_end() {
    Exchange& exchange = *self.exchange_;
    exchange.route = &find_route(exchange.request.path());
    exchange.request.http_1_0 = self.parser_.http_1_0();
    exchange.request.keep_alive = self.parser_.keep_alive();
    const bool has_body = self.parser_.chunked() || self.parser_.content_length().value_or(0) != 0;
    if (self.parser_.expects_continue() && has_body) self.core_.output().append(kContinue);
  }

  void on_body(std::string_view part) {
    Exchange& exchange = *self.exchange_;
    Request& request = exchange.request;
    request.body_bytes += part.size();
    const bool logged = self.core_.logs_requests();
    if (logged || exchange.route->body == BodyUse::kDigest) {
      request.body_crc = static_cast<std::uint32_t>(
          crc32_z(request.body_crc, reinterpret_cast<const Bytef*>(part.data()), part.size()));
    }
    if (logged) {
      const std::size_t room = self.core_.limits().max_logged_body_bytes - request.logged_body.size();
      request.logged_body += part.substr(0, room);
    }
    switch (exchange.route->body) {
      case BodyUse::kCount:
      case BodyUse::kDigest:
        break;
      case BodyUse::kKeep:
        if (request.body_bytes > self.core_.limits().max_kept_body_bytes) {
          exchange.body_too_large = true;
        } else {
          request.body += part;
        }
        break;
    }
  }

  Connection& self;
};

Connection::Connection(Core& core, int fd)
    : Watcher(&Connection::on_ready),
      core_(core),
      fd_(fd),
      parser_(core.limits().http),
      pause_(&Connection::on_pause_over, *this),
      idle_(&Connection::on_idle, *this),
      active_(core.loop().now()) {}

Connection::~Connection() {
  core_.loop().timers().cancel(pause_);
  core_.loop().timers().cancel(idle_);
  core_.loop().remove(fd_, *this);
  tls_.close();
  ::close(fd_);
}

bool Connection::open() {
  if (!core_.loop().add(fd_, *this)) return false;
  if (core_.tls() != nullptr) {
    if (!tls_.accept(*core_.tls(), fd_)) return false;
    phase_ = Phase::kHandshake;
  }
  core_.loop().timers().arm(idle_, active_ + core_.limits().idle_timeout);
  return true;
}

void Connection::serve() {
  Step step = Step::kAgain;
  int reads = 0;
  while (step == Step::kAgain) {
    switch (phase_) {
      case Phase::kHandshake:
        step = handshake();
        break;
      case Phase::kReading:
        if (++reads > kReadsPerTurn) {
          pause_until(base::now(), Phase::kReading);
          break;
        }
        step = read();
        break;
      case Phase::kHead:
        step = write_head();
        break;
      case Phase::kFiller:
        step = write_filler();
        break;
      case Phase::kEnding:
        step = end_reply();
        break;
      case Phase::kDraining:
        step = drain();
        break;
      case Phase::kPausing:
      case Phase::kHolding:
        step = Step::kWait;
        break;
    }
  }
  Output& output = core_.output();
  if (step == Step::kWait && (output.size != 0 || !output.unstamped.empty()) && flush() == Sent::kFailed) {
    step = Step::kGone;
  }
  if (step == Step::kGone) {
    output.size = 0;
    output.unstamped.clear();
    core_.destroy(*this);
  }
}

void Connection::on_ready(reactor::Watcher& watcher, std::uint32_t events) {
  auto& self = static_cast<Connection&>(watcher);
  self.core_.shared().wait_out_stall();
  if ((events & EPOLLRDHUP) != 0) self.peer_closed_ = true;
  const bool dead = (events & (EPOLLERR | EPOLLHUP)) != 0;
  if (dead || (self.peer_closed_ && self.phase_ == Phase::kHolding)) return self.core_.destroy(self);
  self.serve();
}

Connection::Step Connection::handshake() {
  switch (tls_.handshake()) {
    case IoStatus::kDone:
      phase_ = Phase::kReading;
      return Step::kAgain;
    case IoStatus::kWouldBlock:
      return Step::kWait;
    case IoStatus::kClosed:
    case IoStatus::kCut:
    case IoStatus::kFailed:
      break;
  }
  return Step::kGone;
}

Connection::Step Connection::read() {
  const Sent sent = flush();
  if (sent != Sent::kAll) return sent == Sent::kBlocked ? Step::kWait : Step::kGone;

  if (!held_.empty()) {
    std::string input;
    input.swap(held_);
    const std::size_t used = feed(input, base::now());
    if (used < input.size()) held_.assign(input, used);
    return Step::kAgain;
  }

  auto& buffer = core_.input();
  const IoResult received = receive(buffer.data(), buffer.size());
  if (received.status == IoStatus::kWouldBlock) return Step::kWait;
  if (received.status != IoStatus::kDone) return Step::kGone;
  active_ = base::now();
  const std::string_view bytes(buffer.data(), received.bytes);
  const std::size_t used = feed(bytes, active_);
  if (used < bytes.size()) held_ = bytes.substr(used);
  // A short count means that the socket is empty; the next bytes, or the end, come with an edge of their own.
  const bool empty = received.bytes < buffer.size() && !tls_.open() && !peer_closed_;
  return empty && phase_ == Phase::kReading && held_.empty() ? Step::kWait : Step::kAgain;
}

std::size_t Connection::feed(std::string_view bytes, base::Instant read_at) {
  Sink sink(*this);
  std::size_t used = 0;
  while (used < bytes.size()) {
    if (!parser_.started()) began_ = read_at;
    const protocol::FeedResult result = parser_.feed(bytes.substr(used), sink);
    used += result.consumed;
    if (result.state == protocol::ParseState::kNeedMore) break;
    if (result.state == protocol::ParseState::kError) {
      refuse_bad_request();
      return bytes.size();
    }
    begin_reply(read_at);
    if (phase_ != Phase::kReading) break;
  }
  return used;
}

void Connection::begin_reply(base::Instant read_at) {
  Exchange& exchange = *exchange_;
  exchange.start = read_at;
  core_.plan(exchange);
  const Plan& plan = exchange.plan;
  if (plan.delay > base::Duration::zero()) return pause_until(read_at + plan.delay, Phase::kHead);
  phase_ = Phase::kHead;
  // What needs no waiting is answered in place, so that pipelined requests leave in one system call.
  if (plan.filler != 0 || plan.chunk != 0 || plan.ending != Ending::kKeep || !append_head()) return;
  finish_exchange();
  phase_ = Phase::kReading;
}

void Connection::refuse_bad_request() {
  const bool in_start_line = exchange_ == nullptr;
  if (in_start_line) exchange_ = core_.take_exchange();
  exchange_->route = nullptr;
  plan_refusal(parser_.error(), in_start_line, exchange_->plan);
  phase_ = Phase::kHead;
}

std::string_view Connection::connection_line() const {
  if (exchange_->plan.ending != Ending::kKeep) return "Connection: close\r\n";
  return exchange_->request.http_1_0 ? "Connection: keep-alive\r\n" : "";
}

bool Connection::append_head() {
  const Plan& plan = exchange_->plan;
  Output& output = core_.output();
  const std::string_view bytes = plan.bytes();
  const std::uint32_t insert_at = plan.inserts_at();
  const std::string_view date = insert_at != 0 ? core_.date_line() : std::string_view();
  const std::string_view line = insert_at != 0 ? connection_line() : std::string_view();
  // Room is left for a "100 Continue" to the request that follows.
  if (plan.interim.size() + bytes.size() + date.size() + line.size() + kContinue.size() > output.room()) return false;
  output.append(plan.interim);
  output.append(bytes.substr(0, insert_at));
  output.append(date);
  output.append(line);
  output.append(bytes.substr(insert_at));
  return true;
}

Connection::Step Connection::write_head() {
  Plan& plan = exchange_->plan;
  if (!append_head()) {
    const Sent sent = flush();
    if (sent != Sent::kAll) return sent == Sent::kBlocked ? Step::kWait : Step::kGone;
    if (!append_head()) {
      // Longer than the buffer: the text itself becomes the output.
      unsent_ = plan.interim;
      unsent_ += plan.bytes().substr(0, plan.inserts_at());
      unsent_ += core_.date_line();
      unsent_ += connection_line();
      unsent_ += plan.bytes().substr(plan.inserts_at());
    }
  }
  if (plan.filler != 0 || plan.chunk != 0) {
    exchange_->stream.start(plan, base::now());
    phase_ = Phase::kFiller;
  } else {
    finish_exchange();
    phase_ = Phase::kEnding;
  }
  return Step::kAgain;
}

Connection::Step Connection::write_filler() {
  Output& output = core_.output();
  ReplyStream& stream = exchange_->stream;
  std::size_t written = 0;
  if (output.room() < Output::kBytes / 2 || !unsent_.empty()) {
    const Sent sent = flush();
    if (sent != Sent::kAll) return sent == Sent::kBlocked ? Step::kWait : Step::kGone;
  }
  while (true) {
    const base::Instant now = base::now();
    const std::size_t room = output.room() - kContinue.size();
    const std::size_t produced = stream.produce(output.bytes.data() + output.size, room, now);
    output.size += produced;
    written += produced;
    if (stream.done()) {
      finish_exchange();
      phase_ = Phase::kEnding;
      return Step::kAgain;
    }
    const Sent sent = flush();
    if (sent != Sent::kAll) return sent == Sent::kBlocked ? Step::kWait : Step::kGone;
    if (produced == 0) {
      pause_until(stream.next_due(now), Phase::kFiller);
      return Step::kWait;
    }
    if (written >= kBytesPerTurn) {
      pause_until(now, Phase::kFiller);
      return Step::kWait;
    }
  }
}

void Connection::finish_exchange() {
  const Plan& plan = exchange_->plan;
  ending_ = plan.ending;
  if (core_.logs_service() && exchange_->route != nullptr && !plan.bytes().empty()) {
    core_.output().unstamped.push_back(
        core_.service_log().add(exchange_->request.path(), exchange_->start, plan.delay + plan.drip));
  }
  if (plan.stall > base::Duration::zero()) core_.shared().stall(base::now(), plan.stall);
  core_.give_exchange(std::move(exchange_));
  parser_.reset();
}

Connection::Step Connection::end_reply() {
  if (ending_ == Ending::kKeep) {
    phase_ = Phase::kReading;
    return Step::kAgain;
  }
  const Sent sent = flush();
  if (sent != Sent::kAll) return sent == Sent::kBlocked ? Step::kWait : Step::kGone;
  std::string().swap(held_);
  switch (ending_) {
    case Ending::kKeep:
    case Ending::kClose:
      if (tls_.open()) tls_.send_close();
      shutdown(fd_, SHUT_WR);
      core_.loop().timers().arm(idle_, base::now() + core_.limits().drain_timeout);
      phase_ = Phase::kDraining;
      return Step::kAgain;
    case Ending::kReset: {
      const linger at_once{1, 0};
      setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
      return Step::kGone;
    }
    case Ending::kHalfClose:
      shutdown(fd_, SHUT_WR);
      break;
    case Ending::kHold:
      break;
  }
  phase_ = Phase::kHolding;
  return peer_closed_ ? Step::kGone : Step::kWait;
}

Connection::Step Connection::drain() {
  auto& buffer = core_.input();
  while (drained_ <= core_.limits().max_drain_bytes) {
    const ssize_t count = recv(fd_, buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EAGAIN) return Step::kWait;
    if (count <= 0) break;
    drained_ += static_cast<std::uint64_t>(count);
  }
  return Step::kGone;
}

void Connection::pause_until(base::Instant when, Phase next) {
  phase_ = Phase::kPausing;
  after_pause_ = next;
  core_.loop().timers().arm(pause_, when);
}

void Connection::on_pause_over(reactor::Timer& timer, base::Instant) {
  Connection& self = static_cast<ConnectionTimer&>(timer).owner;
  self.core_.shared().wait_out_stall();
  self.phase_ = self.after_pause_;
  self.serve();
}

void Connection::on_idle(reactor::Timer& timer, base::Instant now) {
  Connection& self = static_cast<ConnectionTimer&>(timer).owner;
  const Limits& limits = self.core_.limits();
  const bool reading = self.phase_ == Phase::kReading;
  if (self.phase_ == Phase::kDraining) return self.core_.destroy(self);
  if (reading && self.parser_.started() && now - self.began_ >= limits.request_timeout) {
    if (self.exchange_ == nullptr) self.exchange_ = self.core_.take_exchange();
    self.exchange_->route = nullptr;  // its last byte never came: there is nothing to log
    plan_refusal(408, "the request was not complete in time", self.exchange_->plan);
    self.phase_ = Phase::kHead;
    self.core_.loop().timers().arm(self.idle_, now + limits.drain_timeout);
    return self.serve();
  }
  const bool waits_by_plan =
      self.phase_ == Phase::kPausing || (self.phase_ == Phase::kHolding && self.ending_ == Ending::kHold);
  if (!waits_by_plan && now - self.active_ >= limits.idle_timeout) return self.core_.destroy(self);
  base::Instant next = waits_by_plan ? now + limits.idle_timeout : self.active_ + limits.idle_timeout;
  if (reading && self.parser_.started()) next = std::min(next, self.began_ + limits.request_timeout);
  self.core_.loop().timers().arm(self.idle_, next);
}

}  // namespace muster::target
