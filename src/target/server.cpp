#include "target/server.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "reactor/address.h"
#include "reactor/descriptors.h"
#include "reactor/tls.h"
#include "target/core.h"
#include "target/request_log.h"
#include "target/shared.h"

namespace muster::target {
namespace {

// Signals are the business of whoever runs the server. SIGPIPE above all: OpenSSL writes without MSG_NOSIGNAL.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, fault);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

template <class Read>
auto sum(const std::vector<std::unique_ptr<Core>>& cores, Read read) {
  decltype(read(*cores.front())) total = 0;
  for (const auto& core : cores) total += read(*core);
  return total;
}

}  // namespace

Server::Server(ServerOptions options)
    : options_(std::move(options)),
      shared_(std::make_unique<Shared>(options_.stall)),
      request_log_(std::make_unique<RequestLogFile>()) {}

Server::~Server() {
  (void)stop();
}

base::Expected<void> Server::start() {
  if (options_.tls) {
    auto context = reactor::TlsContext::throw_away_server();
    if (!context) return std::unexpected(context.error());
    tls_ = std::move(*context);
  }
  auto opened = open_cores();
  // Opening a log empties it: only once nothing else can fail.
  if (opened) opened = open_logs();
  if (!opened) {
    cores_.clear();
    return opened;
  }
  reactor::reserve_descriptors(cores_.size() * options_.limits.max_connections);
  for (auto& core : cores_) {
    threads_.emplace_back([&core] {
      block_signals();
      core->run();
    });
  }
  return {};
}

base::Expected<void> Server::stop() {
  if (threads_.empty()) return {};
  shared_->stop();
  for (auto& core : cores_) core->stop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  auto closed = request_log_->close();
  auto written = write_service_log();
  return closed ? written : closed;
}

std::string Server::url() const {
  const std::string host = options_.host.find(':') != std::string::npos && !options_.host.starts_with('[')
                               ? fmt::format("[{}]", options_.host)
                               : options_.host;
  return fmt::format("{}://{}:{}", options_.tls ? "https" : "http", host, port_);
}

std::string Server::certificate() const {
  return tls_ != nullptr ? tls_->certificate() : std::string();
}

std::uint64_t Server::requests() const {
  return sum(cores_, [](const Core& core) { return core.requests(); });
}

std::uint64_t Server::connections() const {
  return sum(cores_, [](const Core& core) { return core.connections(); });
}

std::size_t Server::open_connections() const {
  return sum(cores_, [](const Core& core) { return core.open_connections(); });
}

void Server::stall(base::Duration length) {
  shared_->stall(base::now(), length);
}

base::Expected<void> Server::open_cores() {
  auto address = reactor::Address::parse(options_.host, options_.port);
  if (!address) return std::unexpected(address.error());
  const unsigned count = std::max(1u, options_.cores);
  for (unsigned i = 0; i < count; ++i) {
    reactor::Address bound;
    auto listener = reactor::listen_on(*address, count > 1, bound);
    if (!listener) return std::unexpected(listener.error());
    port_ = bound.port();
    address->set_port(port_);
    cores_.push_back(std::make_unique<Core>(options_, *shared_, *request_log_, i));
    if (auto opened = cores_.back()->open(*listener, tls_.get()); !opened) return opened;
  }
  return {};
}

base::Expected<void> Server::open_logs() {
  if (!options_.request_log.empty()) {
    if (auto opened = request_log_->open(options_.request_log); !opened) return opened;
  }
  if (options_.service_log.empty()) return {};
  service_log_.reset(std::fopen(options_.service_log.c_str(), "we"));
  if (service_log_ == nullptr) {
    return base::fail(fmt::format("cannot write the service log '{}': {}", options_.service_log, std::strerror(errno)));
  }
  return {};
}

base::Expected<void> Server::write_service_log() {
  std::FILE* const file = service_log_.release();
  if (file == nullptr) return {};
  std::fwrite(ServiceLog::kHeader.data(), 1, ServiceLog::kHeader.size(), file);
  std::size_t dropped = 0;
  for (const auto& core : cores_) {
    core->service_log().write(file);
    dropped += core->service_log().dropped();
  }
  const bool failed = std::ferror(file) != 0;
  if (std::fclose(file) != 0 || failed) {
    return base::fail(
        fmt::format("the service log '{}' is not complete: {}", options_.service_log, std::strerror(errno)));
  }
  if (dropped != 0) {
    return base::fail(
        fmt::format("the service log '{}' lacks the last {} requests: the limit of {} per core was reached",
                    options_.service_log, dropped, options_.limits.max_logged_requests));
  }
  return {};
}

}  // namespace muster::target
