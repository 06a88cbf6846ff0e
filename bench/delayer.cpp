// A server that knows its true delays: it answers each HTTP/1.1 request after a log-normal delay and writes down, to
// the nanosecond, how long each answer really took from reading the request to handing over the response. It can also
// fall silent once for a while, as a server in a long pause does. One thread; ends with SIGTERM and then writes the
// log. Usage: delayer --port 8080 [--median-us 5000 --sigma 0.8] [--stall-at 15 --stall-for 1] [--log FILE]
#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::string_view kEndOfRequest = "\r\n\r\n";
constexpr std::string_view kResponse = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

volatile sig_atomic_t stop_wanted = 0;

[[noreturn]] void give_up(const std::string& message) {
  fmt::print(stderr, "delayer: {}\n", message);
  std::exit(1);
}

struct Options {
  std::uint16_t port = 0;
  double median_us = 0;
  double sigma = 0;
  Seconds stall_at{-1};
  Seconds stall_for{0};
  std::string log;
};

Options parse(int count, char** arguments) {
  Options options;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view option = arguments[i];
    const char* value = arguments[i + 1];
    if (option == "--port") {
      options.port = static_cast<std::uint16_t>(std::atoi(value));
    } else if (option == "--median-us") {
      options.median_us = std::atof(value);
    } else if (option == "--sigma") {
      options.sigma = std::atof(value);
    } else if (option == "--stall-at") {
      options.stall_at = Seconds(std::atof(value));
    } else if (option == "--stall-for") {
      options.stall_for = Seconds(std::atof(value));
    } else if (option == "--log") {
      options.log = value;
    } else {
      give_up(fmt::format("unknown option '{}'", option));
    }
  }
  if (options.port == 0) give_up("--port is missing");
  return options;
}

class Delayer {
 public:
  explicit Delayer(const Options& options) : options_(options), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(options.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(listener_, 16384) != 0) {
      give_up(fmt::format("cannot listen on port {}: {}", options.port, std::strerror(errno)));
    }
    watch(listener_);
  }

  void run() {
    std::array<epoll_event, 256> events;
    while (stop_wanted == 0) {
      const timespec wait = until_next();
      const int ready = epoll_pwait2(epoll_, events.data(), static_cast<int>(events.size()), &wait, nullptr);
      for (int i = 0; i < ready; ++i) {
        const int fd = events[static_cast<std::size_t>(i)].data.fd;
        if (fd == listener_) {
          accept_all();
        } else {
          read(fd);
        }
      }
      answer_due();
      stall_if_due();
    }
  }

  void write_log() const {
    if (options_.log.empty()) return;
    std::FILE* file = std::fopen(options_.log.c_str(), "w");
    if (file == nullptr) give_up(fmt::format("cannot write {}: {}", options_.log, std::strerror(errno)));
    for (const std::chrono::nanoseconds delay : delays_) fmt::print(file, "{}\n", delay.count());
    std::fclose(file);
  }

 private:
  struct Answer {
    Clock::time_point due;
    Clock::time_point asked;
    int fd;
    std::uint64_t generation;  // of the connection: an fd may be reused before the answer is due

    bool operator>(const Answer& other) const { return due > other.due; }
  };
  struct Peer {
    std::uint64_t generation = 0;
    std::string unread;
  };

  void watch(int fd) const {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }

  timespec until_next() const {
    using std::chrono::nanoseconds;
    nanoseconds wait = std::chrono::milliseconds(100);
    if (!answers_.empty())
      wait = std::max(nanoseconds{}, std::min(wait, nanoseconds(answers_.top().due - Clock::now())));
    return {.tv_sec = 0, .tv_nsec = wait.count()};
  }

  void accept_all() {
    for (int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC); fd >= 0;
         fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) {
      const int on = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      peers_[fd] = Peer{.generation = ++generations_, .unread = {}};
      watch(fd);
    }
  }

  void read(int fd) {
    std::array<char, 16384> buffer;
    const ssize_t received = recv(fd, buffer.data(), buffer.size(), 0);
    if (received < 0 && errno == EAGAIN) return;
    if (received <= 0) {
      peers_.erase(fd);
      close(fd);
      return;
    }
    const Clock::time_point now = Clock::now();
    if (!first_) first_ = now;
    Peer& peer = peers_[fd];
    peer.unread.append(buffer.data(), static_cast<std::size_t>(received));
    for (std::size_t end = peer.unread.find(kEndOfRequest); end != std::string::npos;
         end = peer.unread.find(kEndOfRequest)) {
      peer.unread.erase(0, end + kEndOfRequest.size());
      answers_.push({.due = now + draw(), .asked = now, .fd = fd, .generation = peer.generation});
    }
  }

  Clock::duration draw() {
    if (options_.median_us <= 0) return {};
    const std::chrono::duration<double, std::micro> delay(options_.median_us *
                                                          std::exp(options_.sigma * normal_(random_)));
    return std::chrono::duration_cast<Clock::duration>(delay);
  }

  void answer_due() {
    for (Clock::time_point now = Clock::now(); !answers_.empty() && answers_.top().due <= now; now = Clock::now()) {
      const Answer answer = answers_.top();
      answers_.pop();
      const auto peer = peers_.find(answer.fd);
      if (peer == peers_.end() || peer->second.generation != answer.generation) continue;
      send(answer.fd, kResponse.data(), kResponse.size(), MSG_NOSIGNAL);
      delays_.push_back(Clock::now() - answer.asked);
    }
  }

  void stall_if_due() {
    if (options_.stall_at < Seconds{} || !first_ || Clock::now() - *first_ < options_.stall_at) return;
    std::this_thread::sleep_for(options_.stall_for);
    options_.stall_at = Seconds(-1);
  }

  Options options_;
  int epoll_;
  int listener_ = -1;
  std::optional<Clock::time_point> first_;  // when the first request came
  std::uint64_t generations_ = 0;
  std::unordered_map<int, Peer> peers_;
  std::priority_queue<Answer, std::vector<Answer>, std::greater<>> answers_;
  std::vector<std::chrono::nanoseconds> delays_;
  std::mt19937_64 random_{1};
  std::normal_distribution<double> normal_;
};

}  // namespace

int main(int count, char** arguments) {
  const auto stop = [](int) { stop_wanted = 1; };
  signal(SIGTERM, stop);
  signal(SIGINT, stop);
  Delayer delayer(parse(count, arguments));
  delayer.run();
  delayer.write_log();
}
