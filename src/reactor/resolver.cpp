#include "reactor/resolver.h"

#include <ares.h>
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

namespace muster::reactor {
namespace {

int to_ares(Family family) {
  switch (family) {
    case Family::kV4:
      return AF_INET;
    case Family::kV6:
      return AF_INET6;
    case Family::kAny:
      break;
  }
  return AF_UNSPEC;
}

// c-ares keeps library-wide state; it is set up once and lives as long as the process.
bool library_ready() {
  static const bool kReady = ares_library_init(ARES_LIB_INIT_ALL) == ARES_SUCCESS;
  return kReady;
}

// Of a name server's answer. The way to an address may lead over other names (CNAME), each with a TTL of its own.
base::Duration least_ttl(const ares_addrinfo& info) {
  int ttl = std::numeric_limits<int>::max();
  for (const ares_addrinfo_node* node = info.nodes; node != nullptr; node = node->ai_next) {
    ttl = std::min(ttl, node->ai_ttl);
  }
  for (const ares_addrinfo_cname* name = info.cnames; name != nullptr; name = name->next)
    ttl = std::min(ttl, name->ttl);
  return std::max<base::Duration>(std::chrono::seconds(ttl), kLeastTtl);
}

struct Query {
  bool done = false;
  bool asking = false;  // a name server, as nothing on this machine knew the name
  int status = ARES_SUCCESS;
  Resolution found;

  static void answered(void* self_pointer, int status, int /*timeouts*/, ares_addrinfo* info) {
    auto& self = *static_cast<Query*>(self_pointer);
    self.done = true;
    self.status = status;
    if (info == nullptr) return;
    for (const ares_addrinfo_node* node = info->nodes; node != nullptr; node = node->ai_next) {
      self.found.addresses.push_back(Address::from(node->ai_addr, node->ai_addrlen));
    }
    // c-ares gives entries of the hosts file a TTL of 0, like answers that carry one.
    self.found.ttl = self.asking ? least_ttl(*info) : kHostsFileTtl;
    ares_freeaddrinfo(info);
  }
};

void run_until(ares_channel channel, const Query& query, base::Instant deadline) {
  while (!query.done) {
    std::array<ares_socket_t, ARES_GETSOCK_MAXNUM> sockets{};
    const int mask = ares_getsock(channel, sockets.data(), static_cast<int>(sockets.size()));
    std::array<pollfd, ARES_GETSOCK_MAXNUM> waiting{};
    nfds_t count = 0;
    for (std::size_t i = 0; i < sockets.size(); ++i) {
      short events = 0;
      if (ARES_GETSOCK_READABLE(mask, i) != 0) events |= POLLIN;
      if (ARES_GETSOCK_WRITABLE(static_cast<unsigned>(mask), i) != 0) events |= POLLOUT;
      if (events != 0) waiting[count++] = {.fd = sockets[i], .events = events, .revents = 0};
    }
    const base::Instant now = base::now();
    if (now >= deadline) return;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now) + std::chrono::milliseconds(1);
    poll(waiting.data(), count, static_cast<int>(std::min<std::int64_t>(left.count(), 100)));
    if (count == 0) ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    for (nfds_t i = 0; i < count; ++i) {
      const bool readable = (waiting[i].revents & (POLLIN | POLLERR | POLLHUP)) != 0;
      const bool writable = (waiting[i].revents & POLLOUT) != 0;
      ares_process_fd(channel, readable ? waiting[i].fd : ARES_SOCKET_BAD, writable ? waiting[i].fd : ARES_SOCKET_BAD);
    }
  }
}

}  // namespace

base::Expected<void> check_family(std::string_view host, Family family) {
  const auto literal = Address::parse(host, 0);
  if (!literal || family == Family::kAny || literal->family() == to_ares(family)) return {};
  const int found = literal->family() == AF_INET6 ? 6 : 4;
  return base::fail(
      fmt::format("'{}' is an IPv{} address, and `ip: {}` allows none; leave `ip` out, or give another one", host,
                  found, found == 6 ? 4 : 6));
}

base::Expected<Resolution> resolve(const std::string& host, Family family, base::Duration timeout,
                                   const std::string& servers) {
  if (auto literal = Address::parse(host, 0)) {
    if (auto fits = check_family(host, family); !fits) return std::unexpected(fits.error());
    return Resolution{.addresses = {*literal}, .ttl = base::Duration::max()};
  }
  ares_channel channel = nullptr;
  ares_options options{};
  options.timeout = static_cast<int>(std::clamp<std::int64_t>(timeout.count() / 1'000'000 / 2, 50, 5000));
  options.tries = 2;
  if (!library_ready() || ares_init_options(&channel, &options, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES) != ARES_SUCCESS) {
    return base::fail("cannot start the resolver; check /etc/resolv.conf");
  }
  if (!servers.empty() && ares_set_servers_ports_csv(channel, servers.c_str()) != ARES_SUCCESS) {
    ares_destroy(channel);
    return base::fail(fmt::format("cannot ask the name servers '{}'; expected addresses as 127.0.0.1:53", servers));
  }
  Query query;
  ares_addrinfo_hints hints{};
  hints.ai_family = to_ares(family);
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = ARES_AI_NOSORT;
  ares_getaddrinfo(channel, host.c_str(), nullptr, &hints, &Query::answered, &query);
  query.asking = true;  // what this machine knows was answered by now
  run_until(channel, query, base::now() + timeout);
  const bool timed_out = !query.done;
  ares_destroy(channel);  // ends an open query, which then reports into `query`
  if (timed_out)
    return base::fail(fmt::format("cannot resolve '{}': no answer within {} s", host, base::seconds(timeout)));
  if (query.status != ARES_SUCCESS || query.found.addresses.empty()) {
    return base::fail(fmt::format("cannot resolve '{}': {}; check the name, or give its address with `hosts`", host,
                                  ares_strerror(query.status)));
  }
  return std::move(query.found);
}

void ResolverThread::start() {
  stopping_ = false;
  thread_ = std::thread([this] { serve(); });
}

void ResolverThread::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    requests_.clear();
  }
  changed_.notify_all();
  thread_.join();
}

void ResolverThread::ask(std::string host, Family family, base::Duration timeout, Answer answer) {
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back({std::move(host), family, timeout, std::move(answer)});
  }
  changed_.notify_one();
}

void ResolverThread::serve() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopping_ || !requests_.empty(); });
    if (stopping_) return;
    Request request = std::move(requests_.front());
    requests_.pop_front();
    lock.unlock();
    request.answer(resolve(request.host, request.family, request.timeout));
  }
}

}  // namespace muster::reactor
