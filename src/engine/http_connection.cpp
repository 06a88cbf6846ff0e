#include "engine/http_connection.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/wall_clock.h"
#include "engine/interpreter.h"
#include "engine/options.h"
#include "model/http_kind.h"

namespace muster::engine {
namespace {

using model::ErrorClass;
using reactor::IoStatus;

constexpr std::uint64_t kBodyResults = (std::uint64_t{1} << static_cast<unsigned>(model::HttpResult::kBody)) |
                                       (std::uint64_t{1} << static_cast<unsigned>(model::HttpResult::kJson));
constexpr std::uint64_t kHeaderResult = std::uint64_t{1} << static_cast<unsigned>(model::HttpResult::kHeader);

ErrorClass class_of(int error) {
  switch (error) {
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
    case EADDRNOTAVAIL:
      return ErrorClass::kResource;
    case ETIMEDOUT:
      return ErrorClass::kTimeout;
    case ECONNRESET:  // accepted, and reset before this side looked
    case EPIPE:
      return ErrorClass::kReset;
    default:
      return ErrorClass::kConnect;
  }
}

std::string explain(int error) {
  switch (error) {
    case EMFILE:
    case ENFILE:
      return "no file descriptor left; raise `ulimit -n` or use fewer connections";
    case EADDRNOTAVAIL:
      return "no local port left; keep connections open, or give more `source` addresses";
    default:
      return std::strerror(error);
  }
}

// What a connection's parser refers to until it is attached to an origin.
constexpr protocol::Http1Limits kUnattached;

bool letters_equal(std::string_view name, std::string_view lower) {
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if ((name[i] | 0x20) != lower[i]) return false;
  }
  return true;
}

}  // namespace

// Takes what the engine needs from a response; everything else falls through at the cost of a length comparison.
struct HttpSink : protocol::Http1ResponseSink {
  HttpConnection& self;

  explicit HttpSink(HttpConnection& connection) : self(connection) {}

  void on_header(std::string_view name, std::string_view value) {
    switch (name.size()) {
      case 8:
        if (letters_equal(name, "location")) {
          self.location_ = value;
          self.collected_ = true;
        }
        break;
      case 10:
        if ((name[0] | 0x20) == 's' && self.origin_->settings->cookies && letters_equal(name, "set-cookie")) {
          self.vu_->http.cookies.store(value, self.origin_->host, self.request_target(), self.origin_->secure,
                                       base::wall_seconds());
        }
        break;
      case 16:
        if (self.collect_body_ && letters_equal(name, "content-encoding")) {
          const auto coding = protocol::content_coding(value);
          self.coding_ = static_cast<std::uint8_t>(coding.value_or(protocol::ContentCoding::kIdentity));
        }
        break;
      default:
        break;
    }
    if (self.collect_headers_) {
      self.headers_.append(name).append(": ").append(value).push_back('\n');
    }
  }

  void on_body(std::string_view part) {
    self.body_bytes_ += part.size();
    if (!self.collect_body_) return;
    if (self.body_view_.empty() && self.body_.empty() && self.parser_.content_length() == part.size()) {
      self.body_view_ = part;  // whole and in the core's buffer: nothing to copy
    } else {
      self.body_.append(part);
    }
  }
};

HttpConnection::HttpConnection(HttpClient& client)
    : Watcher(&HttpConnection::on_ready), Timer(&HttpConnection::on_deadline), client_(client), parser_(kUnattached) {}

HttpConnection::~HttpConnection() {
  shut();
  client_.loop().timers().cancel(*this);
}

void HttpConnection::attach(Vu& vu, HttpOrigin& origin) {
  vu_ = &vu;
  origin_ = &origin;
  next_ = vu.http.connections;
  vu.http.connections = this;
  parser_ = protocol::Http1ResponseParser(origin.settings->limits);
  state_ = State::kNew;
  reused_ = false;
}

void HttpConnection::unlink() {
  if (vu_ == nullptr) return;
  HttpConnection** link = &vu_->http.connections;
  while (*link != this) link = &(*link)->next_;
  *link = next_;
  vu_ = nullptr;
}

void HttpConnection::shut() {
  tls_.close();
  if (fd_ < 0) return;
  client_.loop().remove(fd_, *this);
  ::close(fd_);
  fd_ = -1;
}

void HttpConnection::close() {
  if (state_ == State::kFree) return;
  if (state_ == State::kResolving) std::erase(origin_->waiting, this);
  shut();
  client_.loop().timers().cancel(*this);
  unlink();
  state_ = State::kFree;
  call_ = nullptr;
  before_ = {};
  // What one large exchange grew is not kept for the thousands to come.
  for (std::string* text : {&own_request_, &headers_, &location_, &body_, &opening_}) {
    text->clear();
    if (text->capacity() > kSampleBytes) text->shrink_to_fit();
  }
  client_.recycle(*this);
}

bool HttpConnection::send(Call& call, std::string_view request, Outcome& outcome) {
  call_ = &call;
  call.transport = this;
  prepared_ = static_cast<const PreparedHttp*>(call.plan->prepared.get());
  request_ = request;
  sent_ = 0;
  bytes_in_ = body_bytes_ = 0;
  last_read_ = 0;
  first_byte_ = {};
  hung_up_ = false;
  coding_ = 0;
  collect_body_ = (call.plan->captured & kBodyResults) != 0 || client_.trace();
  collect_headers_ = (call.plan->captured & kHeaderResult) != 0;
  if (collected_) {
    headers_.clear();
    location_.clear();
    body_.clear();
    body_view_ = {};
    opening_.clear();
  }
  collected_ = collect_body_ || collect_headers_;
  answers_left_ = call.bytes.empty() ? 1 : call.answers;
  parser_.reset(request.starts_with("HEAD "));
  if (state_ == State::kIdle) [[likely]] {
    opened_ = false;
    reused_ = true;
    return start_sending(outcome);
  }
  opened_ = true;
  reused_ = false;
  setup_.fill(base::Duration(-1));
  return begin_connect(outcome);
}

void HttpConnection::arm(base::Instant deadline) {
  deadline_ = deadline;
  // The timer is left where it is as long as it looks early enough: most exchanges never touch the heap.
  if (armed() && timer_at_ <= deadline) return;
  timer_at_ = deadline;
  client_.loop().timers().arm(*this, deadline);
}

void HttpConnection::set_limit(base::Duration phase_limit) {
  arm(std::min(call_->started + prepared_->timeout, phase_began_ + phase_limit));
}

void HttpConnection::on_deadline(reactor::Timer& timer, base::Instant now) {
  auto& self = static_cast<HttpConnection&>(timer);
  if (self.call_ == nullptr) return;
  if (now < self.deadline_) {
    self.arm(self.deadline_);
    return;
  }
  switch (self.state_) {
    case State::kResolving:
      self.fail(ErrorClass::kDns, fmt::format("'{}' was not resolved in time", self.origin_->host));
      break;
    case State::kConnecting:
      self.fail(ErrorClass::kTimeout,
                fmt::format("no connection to {}:{} in time", self.origin_->host, self.origin_->port));
      break;
    case State::kHandshake:
      self.fail(ErrorClass::kTimeout, "the TLS handshake was not finished in time");
      break;
    default:
      self.fail(ErrorClass::kTimeout,
                fmt::format("no complete response within {} s", base::seconds(self.prepared_->timeout)));
      break;
  }
}

bool HttpConnection::begin_connect(Outcome& outcome) {
  HttpOrigin& origin = *origin_;
  phase_began_ = client_.loop().now();
  tried_ = 0;
  const bool stale = origin.settings->dns == DnsPolicy::kEach ||
                     (origin.addresses.empty() && phase_began_ - origin.asked > std::chrono::seconds(1));
  if (stale) {
    state_ = State::kResolving;
    origin.waiting.push_back(this);
    client_.ask_addresses(origin);
    set_limit(kResolveTimeout);
    return true;
  }
  if (origin.settings->dns == DnsPolicy::kTtl && phase_began_ >= origin.expires) client_.ask_addresses(origin);
  return try_address(outcome);
}

void HttpConnection::resolved() {
  setup_[0] = client_.loop().now() - phase_began_;
  phase_began_ = client_.loop().now();
  Outcome outcome;
  Call& call = *call_;
  if (!try_address(outcome)) client_.report(call, outcome);
}

bool HttpConnection::try_address(Outcome& outcome) {
  HttpOrigin& origin = *origin_;
  if (origin.addresses.empty()) return failed(outcome, ErrorClass::kDns, origin.dns_error);
  const reactor::Address& address = origin.addresses[origin.next_address++ % origin.addresses.size()];
  ++tried_;
  fd_ = reactor::open_stream(address.family());
  if (fd_ < 0) return failed(outcome, class_of(errno), explain(errno));
  if (const reactor::Address* source = client_.next_source(origin)) {
    const int on = 1;
    setsockopt(fd_, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
    if (bind(fd_, source->get(), source->size()) != 0) {
      const std::string why =
          errno == EADDRNOTAVAIL ? "it is no address of this machine, or has no port left" : explain(errno);
      return failed(outcome, ErrorClass::kResource, fmt::format("cannot send from {}: {}", source->to_text(), why));
    }
  }
  if (connect(fd_, address.get(), address.size()) != 0 && errno != EINPROGRESS) {
    const int error = errno;
    if (tried_ < origin.addresses.size() && class_of(error) == ErrorClass::kConnect) {
      shut();
      return try_address(outcome);
    }
    return failed(outcome, class_of(error), fmt::format("{}: {}", address.to_text(), explain(error)));
  }
  if (auto added = client_.loop().add(fd_, *this); !added)
    return failed(outcome, ErrorClass::kResource, added.error().message);
  state_ = State::kConnecting;
  set_limit(origin.settings->connect_timeout);
  return true;
}

void HttpConnection::connect_ready() {
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
  Outcome outcome;
  Call& call = *call_;
  if (error != 0) {
    if (tried_ < origin_->addresses.size()) {
      shut();
      if (!try_address(outcome)) client_.report(call, outcome);
      return;
    }
    fail(class_of(error), fmt::format("{}:{}: {}", origin_->host, origin_->port, explain(error)));
    return;
  }
  const base::Instant now = client_.loop().refresh();
  setup_[1] = now - phase_began_;
  phase_began_ = now;
  if (!connected(outcome)) client_.report(call, outcome);
}

bool HttpConnection::connected(Outcome& outcome) {
  if (origin_->tls == nullptr) return start_sending(outcome);
  if (!tls_.connect(*origin_->tls, fd_, origin_->tls_name, origin_->port)) {
    return failed(outcome, ErrorClass::kResource, "cannot start a TLS session: out of memory");
  }
  state_ = State::kHandshake;
  set_limit(origin_->settings->tls_timeout);
  continue_handshake();
  return true;
}

void HttpConnection::continue_handshake() {
  switch (tls_.handshake()) {
    case IoStatus::kWouldBlock:
      return;
    case IoStatus::kClosed:
    case IoStatus::kCut:
      fail(ErrorClass::kTls, "the server closed the connection during the TLS handshake");
      return;
    case IoStatus::kFailed:
      fail(ErrorClass::kTls, tls_.error());
      return;
    case IoStatus::kDone:
      break;
  }
  setup_[2] = client_.loop().refresh() - phase_began_;
  Outcome outcome;
  Call& call = *call_;
  if (!start_sending(outcome)) client_.report(call, outcome);
}

bool HttpConnection::start_sending(Outcome& outcome) {
  state_ = State::kSending;
  sent_at_ = client_.loop().now();  // until all is sent: one that never is waits from here
  arm(call_->started + prepared_->timeout);
  return continue_sending(outcome);
}

bool HttpConnection::continue_sending(Outcome& outcome) {
  while (sent_ < request_.size()) {
    const char* from = request_.data() + sent_;
    const std::size_t left = request_.size() - sent_;
    if (tls_.open()) {
      const reactor::IoResult result = tls_.write(from, left);
      if (result.status == IoStatus::kWouldBlock) return true;
      if (result.status != IoStatus::kDone) {
        if (can_send_again()) return client_.send_again(*call_, *this, outcome);
        // What the server said before it closed may still be there to read: a refusal, or an alert that tells why.
        state_ = State::kReceiving;
        return true;
      }
      sent_ += result.bytes;
    } else {
      const ssize_t count = ::send(fd_, from, left, MSG_NOSIGNAL);
      if (count < 0) {
        if (errno == EAGAIN || errno == EINTR) return true;
        // A server may refuse early and close: what it said may still be there to read.
        if ((errno == EPIPE || errno == ECONNRESET) && can_send_again())
          return client_.send_again(*call_, *this, outcome);
        if (errno == EPIPE) {
          state_ = State::kReceiving;
          return true;
        }
        return failed(outcome, ErrorClass::kReset, explain(errno));
      }
      sent_ += static_cast<std::size_t>(count);
    }
  }
  sent_at_ = client_.loop().now();
  state_ = State::kReceiving;
  return true;
}

void HttpConnection::on_ready(reactor::Watcher& watcher, std::uint32_t events) {
  static_cast<HttpConnection&>(watcher).ready(events);
}

void HttpConnection::ready(std::uint32_t events) {
  switch (state_) {
    case State::kReceiving:
      [[likely]] if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
        hung_up_ = (events & (EPOLLRDHUP | EPOLLHUP)) != 0;
        receive();
      }
      break;
    case State::kConnecting:
      if ((events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) == 0) break;
      connect_ready();
      receive_rest(events);
      break;
    case State::kHandshake:
      continue_handshake();
      receive_rest(events);
      break;
    case State::kSending: {
      Outcome outcome;
      Call& call = *call_;
      if (!continue_sending(outcome)) client_.report(call, outcome);
      receive_rest(events);
      break;
    }
    case State::kIdle:
      if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0 &&
          (!tls_.open() || (events & EPOLLRDHUP) != 0)) {
        close();  // the peer ended it, or speaks out of turn
      }
      break;
    default:
      break;
  }
}

void HttpConnection::receive_rest(std::uint32_t events) {
  // In any other state this exchange has failed, and the connection may already be opening for the next one.
  if (state_ != State::kReceiving && state_ != State::kSending) return;
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) == 0) return;
  hung_up_ = (events & (EPOLLRDHUP | EPOLLHUP)) != 0;
  receive();
}

reactor::IoResult HttpConnection::read_some() {
  if (tls_.open()) return tls_.read(client_.buffer(), kReceiveBytes);
  const ssize_t count = recv(fd_, client_.buffer(), kReceiveBytes, 0);
  if (count > 0) return {IoStatus::kDone, static_cast<std::size_t>(count)};
  if (count == 0) return {IoStatus::kClosed, 0};
  return {errno == EAGAIN || errno == EINTR ? IoStatus::kWouldBlock : IoStatus::kFailed, 0};
}

void HttpConnection::receive() {
  for (;;) {
    const reactor::IoResult result = read_some();
    switch (result.status) {
      case IoStatus::kWouldBlock:
        return;
      case IoStatus::kClosed:
      case IoStatus::kCut:
        peer_closed(result.status == IoStatus::kCut);
        return;
      case IoStatus::kFailed:
        transport_failed(errno);
        return;
      case IoStatus::kDone:
        break;
    }
    const base::Instant now = client_.loop().refresh();
    if (bytes_in_ == 0) first_byte_ = now;
    bytes_in_ += result.bytes;
    last_read_ = result.bytes;
    if (client_.trace()) [[unlikely]]
      client_.hear(*call_, {client_.buffer(), result.bytes});
    HttpSink sink(*this);
    std::string_view bytes(client_.buffer(), result.bytes);
    protocol::FeedResult fed;
    while (true) {  // one place that feeds, so that the compiler still sees through it
      fed = parser_.feed(bytes, sink);
      if (fed.state != protocol::ParseState::kComplete || answers_left_ == 1) [[likely]]
        break;
      complete_one();
      bytes.remove_prefix(fed.consumed);
    }
    if (fed.state == protocol::ParseState::kComplete) {
      complete(bytes.size() - fed.consumed);
      return;
    }
    if (fed.state == protocol::ParseState::kError) {
      fail(ErrorClass::kProtocol, std::string(parser_.error_text()));
      return;
    }
    if (bytes_in_ == result.bytes) {
      // The buffer belongs to all connections of the core.
      opening_.assign(client_.buffer(), std::min(result.bytes, kSampleBytes));
      collected_ = true;
    }
    // A short read has drained the socket; the next edge tells of more, unless this one told of the end as well.
    if (!tls_.open() && result.bytes < kReceiveBytes && !hung_up_) return;
  }
}

bool HttpConnection::can_send_again() const {
  return reused_ && bytes_in_ == 0 && idempotent();
}

bool HttpConnection::idempotent() const {
  if (call_->bytes.empty()) return prepared_->idempotent;
  // A script's own bytes: of several requests only the first could be told.
  return call_->answers == 1 && (request_.starts_with("GET ") || request_.starts_with("HEAD "));
}

std::string_view HttpConnection::evidence() const {
  if (!opening_.empty()) return opening_;
  return {client_.buffer(), std::min(last_read_, kSampleBytes)};
}

void HttpConnection::send_again() {
  Outcome outcome;
  Call& call = *call_;
  if (!client_.send_again(call, *this, outcome)) client_.report(call, outcome);
}

void HttpConnection::peer_closed(bool cut) {
  hung_up_ = true;
  if (can_send_again()) {
    send_again();
    return;
  }
  if (parser_.finish() != protocol::ParseState::kComplete) {
    fail(ErrorClass::kReset, std::string(parser_.error_text()));
  } else if (cut) {
    // A body with a length or in chunks was complete before: this one lasts until the end, which did not come properly
    // (RFC 9112 section 8).
    fail(ErrorClass::kReset,
         "the TLS connection was cut without a close_notify, so the end of a body without a length may be missing; let "
         "the server close it properly or send Content-Length");
  } else {
    complete(0);
  }
}

void HttpConnection::transport_failed(int error) {
  if (can_send_again()) {
    send_again();
  } else {
    fail(error != 0 ? ErrorClass::kReset : ErrorClass::kTls,
         error != 0 ? std::string(std::strerror(error)) : tls_.error());
  }
}

void HttpConnection::fill(Outcome& outcome) const {
  outcome.status = static_cast<std::uint32_t>(parser_.status());
  const SoFar all = so_far();
  outcome.bytes_in = all.bytes_in;
  outcome.bytes_out = all.bytes_out;
  // Without redirects, what was sent before was this very request, on a connection that was closed.
  outcome.unsent = sent_ == 0 && (before_.bytes_out == 0 || before_.redirects > 0);
  outcome.connections = all.connections;
  outcome.finished = client_.loop().now();
  if (opened_) std::copy(setup_.begin(), setup_.end(), outcome.phases.begin());
  if (first_byte_ != base::Instant{}) {
    outcome.phases[static_cast<std::size_t>(model::Phase::kWait)] = first_byte_ - sent_at_;
    outcome.phases[static_cast<std::size_t>(model::Phase::kReceive)] = outcome.finished - first_byte_;
  }
}

void HttpConnection::measure(Outcome& outcome) const {
  fill(outcome);
  model::Phase phase = model::Phase::kWait;
  base::Instant since = phase_began_;
  switch (state_) {
    case State::kResolving:
      phase = model::Phase::kDns;
      break;
    case State::kNew:
    case State::kConnecting:
      phase = model::Phase::kConnect;
      break;
    case State::kHandshake:
      phase = model::Phase::kTls;
      break;
    default:
      since = sent_at_;
      break;
  }
  base::Duration& taken = outcome.phases[static_cast<std::size_t>(phase)];
  if (taken < base::Duration::zero()) taken = outcome.finished - since;
}

std::string_view HttpConnection::request_target() const {
  const std::size_t begin = request_.find(' ') + 1;
  return request_.substr(begin, request_.find(' ', begin) - begin);
}

HttpConnection::SoFar HttpConnection::so_far() const {
  return {.bytes_in = before_.bytes_in + bytes_in_,
          .bytes_out = before_.bytes_out + sent_,
          .connections = before_.connections + (opened_ ? 1U : 0U),
          .redirects = before_.redirects};
}

void HttpConnection::let_go() {
  call_ = nullptr;
  const bool keep = state_ == State::kReceiving && parser_.complete() && reusable();
  before_ = {};
  if (keep) {
    state_ = State::kIdle;
  } else {
    close();
  }
}

bool HttpConnection::reusable() const {
  return parser_.keep_alive() && !hung_up_ && !stray_ && sent_ == request_.size() &&
         origin_->settings->connections != ConnectionPolicy::kNone;
}

bool HttpConnection::redirected() const {
  const int status = parser_.status();
  if (status < 301 || status > 308 || location_.empty() || before_.redirects >= prepared_->redirects) return false;
  return status <= 303 || status >= 307;
}

void HttpConnection::complete(std::size_t surplus) {
  stray_ = surplus != 0;
  if (redirected()) [[unlikely]] {
    Outcome outcome;
    Call& call = *call_;
    if (!client_.follow(call, *this, location_, outcome)) client_.report(call, outcome);
    return;
  }
  const bool keep = reusable();
  Outcome outcome;
  fill(outcome);
  Call& call = *call_;
  if (!prepared_->expected(parser_.status())) {
    outcome.ok = false;
    outcome.error = ErrorClass::kStatus;
    client_.explain_status(parser_.status(), outcome);
  } else if (before_.redirects > 0 && parser_.status() >= 301 && parser_.status() <= 308 && !location_.empty())
      [[unlikely]] {
    outcome.ok = false;
    outcome.error = ErrorClass::kStatus;
    client_.explain_redirects(before_.redirects, outcome);
  }
  if (!outcome.ok || client_.trace()) {
    outcome.request = request_;
    outcome.reply = evidence();
  }
  if (call.plan->judged || client_.trace()) give_response(call, outcome);
  before_ = {};
  call_ = nullptr;
  if (keep) {
    // The VU may send its next request on this very connection before report() returns.
    state_ = State::kIdle;
    client_.report(call, outcome);
    return;
  }
  shut();
  unlink();  // nobody takes it up, but its texts stay until the outcome was looked at
  client_.report(call, outcome);
  close();
}

void HttpConnection::give_response(const Call& call, Outcome& outcome) {
  HttpResponse& response = client_.response();
  response.set(parser_.status(), headers_, body_.empty() ? body_view_ : std::string_view(body_), body_bytes_,
               outcome.finished - call.intended, &vu_->http.cookies);
  response.set_coding(static_cast<protocol::ContentCoding>(coding_), origin_->settings->limits.max_body_bytes);
  outcome.response = &response;
}

void HttpConnection::complete_one() {
  Outcome outcome;
  outcome.status = static_cast<std::uint32_t>(parser_.status());
  outcome.finished = client_.loop().now();
  if (!prepared_->expected(parser_.status())) {
    outcome.ok = false;
    outcome.error = ErrorClass::kStatus;
  }
  give_response(*call_, outcome);
  client_.report_one(*call_, outcome);
  --answers_left_;
  headers_.clear();
  location_.clear();
  body_.clear();
  body_view_ = {};
  body_bytes_ = 0;
  coding_ = 0;
  parser_.reset(false);
}

void HttpConnection::fail(ErrorClass error, std::string detail) {
  Outcome outcome;
  Call& call = *call_;
  failed(outcome, error, std::move(detail));
  client_.report(call, outcome);
}

bool HttpConnection::failed(Outcome& outcome, ErrorClass error, std::string detail) {
  client_.loop().refresh();
  measure(outcome);
  outcome.ok = false;
  outcome.error = error;
  client_.keep_evidence(request_, evidence(), std::move(detail), outcome);
  close();
  return false;
}

}  // namespace muster::engine
