// How punctual a load generator can be on this machine at this moment: one thread, one epoll, and so many requests a
// second at instants that were fixed before. It only sends and receives; nothing is parsed, and only how late each
// request began is recorded. A generator that makes the same requests in the same minute waits for the same cores and
// the same kernel. With -c it has so many connections, taken in turn; without it opens one for each request.
// Prints one line of JSON, in microseconds. Usage: pacer --url http://127.0.0.1:8080/ -R 5000 -d 30 [-c 10000]
#include <fmt/core.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "bare.h"

namespace {

using muster::bench::give_up;
using muster::bench::number;
using muster::bench::Server;
using muster::bench::Url;

struct Options {
  Url url;
  double rate = 0;
  double seconds = 0;
  std::size_t connections = 0;  // 0: one for each request
};

Options parse(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view option = arguments[i];
    if (++i == count) give_up(fmt::format("{} needs a value", option));
    const std::string_view value = arguments[i];
    if (option == "--url") {
      options.url = muster::bench::parse_url(value);
    } else if (option == "-R") {
      options.rate = number<double>(option, value);
    } else if (option == "-d") {
      options.seconds = number<double>(option, value);
    } else if (option == "-c") {
      options.connections = number<std::size_t>(option, value);
    } else {
      give_up(fmt::format("unknown option '{}'; known are --url, -R, -d and -c", option));
    }
  }
  if (options.url.host.empty() || options.url.tls || options.rate == 0 || options.seconds == 0) {
    give_up("usage: pacer --url http://127.0.0.1:8080/ -R 5000 -d 30 [-c 10000]");
  }
  return options;
}

std::int64_t now_ns() {
  timespec at{};
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * std::int64_t{1'000'000'000} + at.tv_nsec;
}

class Pacer {
 public:
  explicit Pacer(const Options& options)
      : options_(options), server_(options.url), request_(options.url.request()), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    learn_response();
    while (free_.size() < options_.connections) free_.push_back(watch(server_.connect(0), EPOLLIN));
  }

  // How late each request began, in microseconds, ascending.
  std::vector<double> run() {
    const auto wanted = static_cast<std::size_t>(options_.rate * options_.seconds);
    std::vector<double> late;
    late.reserve(wanted);
    const std::int64_t start = now_ns();
    const double between = 1e9 / options_.rate;
    std::size_t ended = 0;
    while (ended < wanted) {
      const std::int64_t now = now_ns();
      if (now > start + static_cast<std::int64_t>((options_.seconds + 30) * 1e9)) give_up("the server does not answer");
      std::int64_t due = start + static_cast<std::int64_t>(between * static_cast<double>(late.size()));
      while (late.size() < wanted && now_ns() >= due) {
        late.push_back(static_cast<double>(now_ns() - due) / 1e3);
        begin();
        due = start + static_cast<std::int64_t>(between * static_cast<double>(late.size()));
      }
      ended += serve(late.size() < wanted ? std::max<std::int64_t>(0, due - now_ns()) : 100'000'000);
    }
    std::ranges::sort(late);
    return late;
  }

 private:
  // A response as the server sends it to this request: bytes are all that is counted afterwards.
  void learn_response() {
    const int fd = server_.connect(0);
    send_on(fd);
    std::string response;
    while (expected_ == 0 || response.size() < expected_) {
      const ssize_t received = recv(fd, buffer_.data(), buffer_.size(), 0);
      if (received <= 0) give_up("the server closed a connection before its response was whole");
      response.append(buffer_.data(), static_cast<std::size_t>(received));
      expected_ = muster::bench::response_bytes(response);
    }
    close(fd);
  }

  int watch(int fd, std::uint32_t events) {
    epoll_event event{.events = events, .data = {.fd = fd}};
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) give_up("a socket cannot be watched");
    if (missing_.size() <= static_cast<std::size_t>(fd)) missing_.resize(static_cast<std::size_t>(fd) + 1);
    return fd;
  }

  void send_on(int fd) {
    if (send(fd, request_.data(), request_.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request_.size())) {
      give_up(fmt::format("a request could not be sent: {}", std::strerror(errno)));
    }
  }

  void begin() {
    if (options_.connections == 0) {
      const int fd = watch(server_.connect(SOCK_NONBLOCK), EPOLLOUT);
      missing_[static_cast<std::size_t>(fd)] = expected_;
      return;
    }
    if (free_.empty()) give_up("every connection waits for an answer: give it more with -c");
    const int fd = free_.front();
    free_.pop_front();
    missing_[static_cast<std::size_t>(fd)] = expected_;
    send_on(fd);
  }

  // Whole responses among what is ready, waiting for so long at most.
  std::size_t serve(std::int64_t wait_ns) {
    const timespec wait{.tv_sec = wait_ns / 1'000'000'000, .tv_nsec = wait_ns % 1'000'000'000};
    std::array<epoll_event, 512> events;
    const int ready = epoll_pwait2(epoll_, events.data(), static_cast<int>(events.size()), &wait, nullptr);
    std::size_t ended = 0;
    for (int i = 0; i < ready; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      if ((event.events & EPOLLOUT) != 0) {
        send_on(event.data.fd);
        epoll_event read{.events = EPOLLIN, .data = {.fd = event.data.fd}};
        epoll_ctl(epoll_, EPOLL_CTL_MOD, event.data.fd, &read);
        continue;
      }
      ended += receive(event.data.fd) ? 1 : 0;
    }
    return ended;
  }

  bool receive(int fd) {
    const ssize_t received = recv(fd, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    std::size_t& missing = missing_[static_cast<std::size_t>(fd)];
    if (received <= 0 || static_cast<std::size_t>(received) > missing) give_up("a response was not like the first");
    missing -= static_cast<std::size_t>(received);
    if (missing > 0) return false;
    if (options_.connections == 0) {
      close(fd);
    } else {
      free_.push_back(fd);
    }
    return true;
  }

  const Options& options_;
  Server server_;
  std::string request_;
  int epoll_;
  std::size_t expected_ = 0;
  std::deque<int> free_;              // connections that wait for nothing, the longest idle one first
  std::vector<std::size_t> missing_;  // by descriptor: bytes of the response that have not come yet
  std::array<char, 65'536> buffer_{};
};

double quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = parse(count, arguments);
  Pacer pacer(options);
  const std::vector<double> late = pacer.run();
  fmt::print("{{\"p50\": {:.1f}, \"p99\": {:.1f}, \"p999\": {:.1f}, \"max\": {:.1f}}}\n", quantile(late, 0.5),
             quantile(late, 0.99), quantile(late, 0.999), late.back());
}
