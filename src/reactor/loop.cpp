#include "reactor/loop.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace muster::reactor {

Loop::~Loop() {
  if (epoll_ >= 0) close(epoll_);
}

base::Expected<void> Loop::open() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return base::fail(fmt::format("cannot create an epoll instance: {}", std::strerror(errno)));
  // The default slack of 50 µs is added to every wait; a schedule of thousands of arrivals a second needs less.
  prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);
  refresh();
  return {};
}

base::Expected<void> Loop::add(int fd, Watcher& watcher) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = &watcher;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) {
    return base::fail(fmt::format("cannot watch a socket: {}", std::strerror(errno)));
  }
  return {};
}

void Loop::remove(int fd, Watcher& watcher) {
  epoll_event unused{};
  epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, &unused);
  for (epoll_event& event : pending_) {
    if (event.data.ptr == &watcher) event.data.ptr = nullptr;
  }
}

int Loop::wait(base::Instant until) {
  const base::Instant deadline = std::min(until, timers_.next());
  const bool forever = deadline == base::kNever;
  const base::Duration left =
      forever ? base::Duration::zero() : std::max(deadline - base::now(), base::Duration::zero());
  const int room = static_cast<int>(events_.size());
  int count = 0;
  if (precise_) {
    const timespec wait_for{.tv_sec = static_cast<time_t>(left.count() / 1'000'000'000),
                            .tv_nsec = static_cast<long>(left.count() % 1'000'000'000)};
    count = epoll_pwait2(epoll_, events_.data(), room, forever ? nullptr : &wait_for, nullptr);
    precise_ = count >= 0 || errno != ENOSYS;
  }
  if (!precise_) {
    // Kernels before 5.11, and valgrind: whole milliseconds, rounded down, so that the last one is spent polling
    // rather than being late.
    constexpr std::int64_t kMost = 60'000;
    const auto wait_for = static_cast<int>(std::min<std::int64_t>(left.count() / 1'000'000, kMost));
    count = epoll_wait(epoll_, events_.data(), room, forever ? -1 : wait_for);
  }
  now_ = base::now();
  return std::max(count, 0);  // EINTR: a turn without events
}

}  // namespace muster::reactor
