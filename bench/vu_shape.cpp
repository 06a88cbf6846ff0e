// What the shape of a VU costs: the same loop (connect, send, receive, think) as an explicit state machine, as one
// coroutine, and as a coroutine that awaits another for each exchange, on one small epoll reactor. The server is an
// echo in the same thread: over a socket pair for each VU, or in memory, where nothing but the shape is left to pay
// for. Prints ns of CPU per iteration and heap bytes per VU. Usage: vu_shape [iterations]
#include <fmt/core.h>
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <queue>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kRequest =
    "GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: muster\r\nAccept: */*\r\n\r\n";
constexpr std::size_t kResponseBytes = 256;

// Something that the reactor wakes: when its socket is readable or its sleep is over.
struct Watcher {
  void (*wake)(Watcher& self) = nullptr;
};

struct Echo : Watcher {
  int fd = -1;
  void answer() const {
    std::array<char, kResponseBytes> bytes{};
    while (read(fd, bytes.data(), bytes.size()) > 0) {
      if (write(fd, bytes.data(), bytes.size()) < 0) std::abort();
    }
  }
};

class Reactor {
 public:
  // Reserves, so that the heap's growth from here on is the VUs' alone.
  Reactor(bool sockets, std::size_t vus) : sockets_(sockets), epoll_(sockets ? epoll_create1(EPOLL_CLOEXEC) : -1) {
    ready_.reserve(vus);
  }

  int connect(Watcher& watcher) {
    if (!sockets_) return -1;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) != 0) std::abort();
    Echo& echo = echoes_.emplace_back();
    echo.fd = pair[1];
    echo.wake = [](Watcher& self) { static_cast<Echo&>(self).answer(); };
    watch(pair[0], watcher);
    watch(pair[1], echo);
    return pair[0];
  }

  void send(int fd, Watcher& watcher) {
    if (!sockets_) {
      ready_.push_back(&watcher);
    } else if (write(fd, kRequest.data(), kRequest.size()) != static_cast<ssize_t>(kRequest.size())) {
      std::abort();
    }
  }

  // The bytes of the response that were there; 0: none yet.
  std::size_t receive(int fd) {
    if (!sockets_) return kResponseBytes;
    const ssize_t count = read(fd, buffer_.data(), buffer_.size());
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  }

  // Think time is nothing here, but every VU goes through the heap of timers for it.
  void think(Watcher& watcher) { timers_.emplace(now_, &watcher); }

  void turn() {
    if (sockets_) {
      const int count = epoll_wait(epoll_, events_.data(), static_cast<int>(events_.size()), timers_.empty() ? -1 : 0);
      for (int i = 0; i < count; ++i) wake(static_cast<Watcher*>(events_[static_cast<std::size_t>(i)].data.ptr));
    }
    running_.swap(ready_);
    for (Watcher* watcher : running_) wake(watcher);
    running_.clear();
    now_ = Clock::now();
    while (!timers_.empty() && timers_.top().first <= now_) {
      Watcher* watcher = timers_.top().second;
      timers_.pop();
      wake(watcher);
    }
  }

  void close_all() {
    for (const Echo& echo : echoes_) close(echo.fd);
    if (epoll_ >= 0) close(epoll_);
  }

  std::uint64_t iterations = 0;

 private:
  static void wake(Watcher* watcher) { watcher->wake(*watcher); }
  void watch(int fd, Watcher& watcher) const {
    epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = &watcher}};
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) std::abort();
  }

  using Sleep = std::pair<Clock::time_point, Watcher*>;
  bool sockets_;
  int epoll_;
  Clock::time_point now_ = Clock::now();
  std::deque<Echo> echoes_;
  std::vector<Watcher*> ready_;
  std::vector<Watcher*> running_;
  std::priority_queue<Sleep, std::vector<Sleep>, std::greater<>> timers_;
  std::array<epoll_event, 512> events_{};
  std::array<char, 4096> buffer_{};
};

// The state machine: what is awaited is a byte, what happens next an `if`.
struct MachineVu : Watcher {
  explicit MachineVu(Reactor& loop) : reactor(loop) {
    wake = [](Watcher& self) { static_cast<MachineVu&>(self).step(); };
  }
  void start() {
    fd = reactor.connect(*this);
    send();
  }
  void send() {
    received = 0;
    thinking = false;
    reactor.send(fd, *this);
  }
  void step() {
    if (thinking) return send();
    received += reactor.receive(fd);
    if (received < kResponseBytes) return;
    ++reactor.iterations;
    thinking = true;
    reactor.think(*this);
  }

  Reactor& reactor;
  std::size_t received = 0;
  int fd = -1;
  bool thinking = false;
};

struct Task {
  struct promise_type {
    std::coroutine_handle<> caller = std::noop_coroutine();
    Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct Back : std::suspend_always {
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> done) noexcept {
          return done.promise().caller;
        }
      };
      return Back{};
    }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };

  explicit Task(std::coroutine_handle<promise_type> made) : handle(made) {}
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() { handle.destroy(); }
  bool await_ready() const { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> from) const {
    handle.promise().caller = from;
    return handle;
  }
  void await_resume() const {}

  std::coroutine_handle<promise_type> handle;
};

// The same loop, written down as it runs. Nested: the exchange is a coroutine of its own, as a client would have it.
template <bool kNested>
struct CoroutineVu : Watcher {
  explicit CoroutineVu(Reactor& loop) : reactor(loop) {
    wake = [](Watcher& self) { static_cast<CoroutineVu&>(self).waiting.resume(); };
  }
  struct Woken : std::suspend_always {
    CoroutineVu& vu;
    explicit Woken(CoroutineVu& self) : vu(self) {}
    void await_suspend(std::coroutine_handle<> from) const { vu.waiting = from; }
  };
  void start() {
    fd = reactor.connect(*this);
    task.handle.resume();
  }
  Task exchange() {
    reactor.send(fd, *this);
    for (std::size_t got = 0; got < kResponseBytes; got += reactor.receive(fd)) co_await Woken(*this);
  }
  Task run() {
    for (;;) {
      if constexpr (kNested) {
        co_await exchange();
      } else {
        reactor.send(fd, *this);
        for (std::size_t got = 0; got < kResponseBytes; got += reactor.receive(fd)) co_await Woken(*this);
      }
      ++reactor.iterations;
      reactor.think(*this);
      co_await Woken(*this);
    }
  }

  Reactor& reactor;
  int fd = -1;
  std::coroutine_handle<> waiting;
  Task task = run();
};

template <class Vu>
void measure(std::string_view shape, bool sockets, std::size_t vus, std::uint64_t iterations) {
  constexpr std::size_t kRounds = 7;
  std::vector<double> costs;
  double bytes = 0;
  for (std::size_t round = 0; round < kRounds; ++round) {
    Reactor reactor(sockets, vus);
    std::vector<std::unique_ptr<Vu>> all(vus);
    const std::size_t before = mallinfo2().uordblks;
    for (auto& vu : all) vu = std::make_unique<Vu>(reactor);
    for (auto& vu : all) vu->start();
    bytes = static_cast<double>(mallinfo2().uordblks - before) / static_cast<double>(vus);
    while (reactor.iterations < vus) reactor.turn();
    const std::uint64_t first = reactor.iterations;
    const std::clock_t began = std::clock();
    while (reactor.iterations < first + iterations) reactor.turn();
    costs.push_back(static_cast<double>(std::clock() - began) * (1e9 / CLOCKS_PER_SEC) /
                    static_cast<double>(reactor.iterations - first));
    for (auto& vu : all) close(vu->fd);
    reactor.close_all();
  }
  std::sort(costs.begin(), costs.end());
  fmt::print("{:<9} {:>6}  {:<17} {:>8.1f} {:>9}\n", sockets ? "sockets" : "memory", vus, shape, costs[kRounds / 2],
             sockets ? "" : fmt::format("{:.0f}", bytes));
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t iterations = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2'000'000;
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  fmt::print("{:<9} {:>6}  {:<17} {:>8} {:>9}\n", "transport", "VUs", "shape", "ns/iter", "bytes/VU");
  for (const bool sockets : {false, true}) {
    for (const std::size_t vus : {std::size_t{1'000}, std::size_t{50'000}}) {
      if (sockets && files.rlim_cur < 2 * vus + 100) continue;
      const std::uint64_t each = sockets ? iterations / 10 : iterations;
      measure<MachineVu>("state machine", sockets, vus, each);
      measure<CoroutineVu<false>>("coroutine", sockets, vus, each);
      measure<CoroutineVu<true>>("nested coroutines", sockets, vus, each);
    }
  }
}
