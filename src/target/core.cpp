#include "target/core.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "target/connection.h"

namespace muster::target {
namespace {

constexpr std::size_t kShelved = 256;

template <class Value>
void add_one(std::atomic<Value>& counter) {
  // One writer: no locked instruction needed.
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace

Core::Core(const ServerOptions& options, Shared& shared, RequestLogFile& request_log, unsigned index)
    : Watcher(&Core::on_ready),
      Timer(&Core::on_accept_retry),
      options_(options),
      shared_(shared),
      random_(base::mix(options.seed) + index),
      route_state_{random_, shared.counter, options_.limits},
      service_log_(options_.limits),
      request_log_(request_log) {}

Core::~Core() {
  while (first_ != nullptr) destroy(*first_);
  loop_.timers().cancel(*this);
  wake_.close();
  if (listener_ >= 0) {
    loop_.remove(listener_, *this);
    ::close(listener_);
  }
}

base::Expected<void> Core::open(int listener, reactor::TlsContext* tls) {
  listener_ = listener;
  tls_ = tls;
  if (auto opened = loop_.open(); !opened) return opened;
  if (auto opened = wake_.open(loop_, &Core::on_woken, this); !opened) return opened;
  return loop_.add(listener_, *this);
}

void Core::run() {
  while (!shared_.stopping()) loop_.turn<Connection>(base::kNever);
  while (first_ != nullptr) destroy(*first_);
  if (!options_.request_log.empty()) request_log_.flush();
}

void Core::stop() {
  wake_.ring();
}

std::unique_ptr<Exchange> Core::take_exchange() {
  if (shelf_.empty()) return std::make_unique<Exchange>();
  std::unique_ptr<Exchange> exchange = std::move(shelf_.back());
  shelf_.pop_back();
  return exchange;
}

void Core::give_exchange(std::unique_ptr<Exchange> exchange) {
  if (shelf_.size() >= kShelved) return;
  exchange->request.clear();
  exchange->plan.clear();
  exchange->route = nullptr;
  exchange->body_too_large = false;
  shelf_.push_back(std::move(exchange));
}

void Core::plan(Exchange& exchange) {
  add_one(requests_);
  shared_.note_request(exchange.start);
  if (!options_.request_log.empty()) request_log_.add(exchange.request);
  if (options_.on_request) {
    const std::lock_guard lock(shared_.on_request_mutex);
    options_.on_request(exchange.request);
  }
  if (exchange.body_too_large) {
    plan_refusal(413, "the body is longer than this path reads", exchange.plan);
  } else {
    plan_reply(*exchange.route, exchange.request, route_state_, exchange.plan);
  }
}

void Core::destroy(Connection& connection) {
  Connection* const next = connection.next_;
  if (next != nullptr) next->previous_ = connection.previous_;
  (connection.previous_ != nullptr ? connection.previous_->next_ : first_) = next;
  delete &connection;
  open_.store(open_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  // A descriptor is free now; accepting goes on in the next turn, outside of whoever destroyed.
  if (accept_paused_) loop_.timers().arm(*this, loop_.now());
}

std::string_view Core::date_line() {
  if (loop_.now() >= date_until_) {
    const auto wall = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
    date_ = fmt::format("Date: {:%a, %d %b %Y %H:%M:%S} GMT\r\n", fmt::gmtime(wall));
    date_until_ = loop_.now() + std::chrono::milliseconds(500);
  }
  return date_;
}

void Core::on_ready(reactor::Watcher& watcher, std::uint32_t) {
  auto& core = static_cast<Core&>(watcher);
  core.shared_.wait_out_stall();
  core.accept_all();
}

void Core::on_accept_retry(reactor::Timer& timer, base::Instant) {
  auto& core = static_cast<Core&>(timer);
  core.shared_.wait_out_stall();
  core.accept_paused_ = false;
  core.accept_all();
}

void Core::on_woken(void*) {}  // run() looks at the stop flag after each turn

void Core::accept_all() {
  if (accept_paused_) return;
  while (open_connections() < limits().max_connections) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      add_connection(fd);
      continue;
    }
    if (errno == EAGAIN) return;
    if (errno == ECONNABORTED || errno == EINTR || errno == EPROTO) continue;
    break;  // EMFILE, ENFILE, ENOBUFS, ENOMEM: nothing to be had right now
  }
  // The listening socket stays ready and no new edge will tell: come back by the clock.
  accept_paused_ = true;
  loop_.timers().arm(*this, loop_.now() + limits().accept_pause);
}

void Core::add_connection(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  auto connection = std::make_unique<Connection>(*this, fd);
  if (!connection->open()) return;
  add_one(accepted_);
  add_one(open_);
  Connection* const added = connection.release();
  added->next_ = first_;
  if (first_ != nullptr) first_->previous_ = added;
  first_ = added;
  added->serve();
}

}  // namespace muster::target
