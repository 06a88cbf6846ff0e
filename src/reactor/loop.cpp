#include "reactor/loop.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace muster::reactor {
namespace {

// Deadlines nearer than this are waited for by epoll itself.
constexpr base::Duration kFar = std::chrono::milliseconds(5);

}  // namespace

Loop::~Loop() {
  if (alarm_ >= 0) close(alarm_);
  if (epoll_ >= 0) close(epoll_);
}

base::Expected<void> Loop::open() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return base::fail(fmt::format("cannot create an epoll instance: {}", std::strerror(errno)));
  // CLOCK_MONOTONIC is what base::now() reads. Nobody needs to read the timerfd: edge-triggered, each expiry is an
  // event.
  alarm_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  if (alarm_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, alarm_, &event) != 0) {
    return base::fail(fmt::format("cannot create a timer: {}", std::strerror(errno)));
  }
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
  const int room = static_cast<int>(events_.size());
  int count = 0;
  if (deadline - now_ > kFar) {
    // A time-out given to epoll costs the kernel a timer for every single wait; a timerfd is armed once and serves all
    // waits until the deadline changes.
    arm_alarm(deadline);
    count = epoll_wait(epoll_, events_.data(), room, -1);
  } else {
    count = wait_briefly(deadline, room);
  }
  now_ = base::now();
  return std::max(count, 0);  // EINTR: a turn without events
}

void Loop::arm_alarm(base::Instant deadline) {
  // An alarm that rings too early is harmless: the turn finds nothing due and arms it anew.
  if (deadline == base::kNever || (alarm_at_ <= deadline && alarm_at_ > now_)) return;
  alarm_at_ = deadline;
  const auto since_boot = deadline.time_since_epoch().count();
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(since_boot / 1'000'000'000);
  when.it_value.tv_nsec = static_cast<long>(since_boot % 1'000'000'000);
  timerfd_settime(alarm_, TFD_TIMER_ABSTIME, &when, nullptr);
}

int Loop::wait_briefly(base::Instant deadline, int room) {
  const base::Duration left = std::max(deadline - base::now(), base::Duration::zero());
  if (precise_) {
    const timespec wait_for{.tv_sec = static_cast<time_t>(left.count() / 1'000'000'000),
                            .tv_nsec = static_cast<long>(left.count() % 1'000'000'000)};
    const int count = epoll_pwait2(epoll_, events_.data(), room, &wait_for, nullptr);
    if (count >= 0 || errno != ENOSYS) return count;
    precise_ = false;
  }
  // Kernels before 5.11, and valgrind: whole milliseconds, rounded down, so that the last one is spent polling rather
  // than being late.
  return epoll_wait(epoll_, events_.data(), room, static_cast<int>(left.count() / 1'000'000));
}

}  // namespace muster::reactor
