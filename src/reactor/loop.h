// The event loop of one core: epoll, edge-triggered, and timers with nanosecond waits (epoll_pwait2). One thread runs
// it and owns everything registered with it; other threads reach it only through a Mailbox.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "base/time.h"
#include "reactor/timers.h"

namespace muster::reactor {

// Something with a file descriptor. Derive from it; the loop never owns it.
class Watcher {
 public:
  // `events` is a mask of EPOLL*. The watcher may remove or destroy itself, and others, in there.
  using Ready = void (*)(Watcher& watcher, std::uint32_t events);

  explicit Watcher(Ready ready) : ready_(ready) {}
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  Ready ready() const { return ready_; }

 private:
  Ready ready_;
};

class Loop {
 public:
  static constexpr std::size_t kMaxEvents = 512;

  Loop() = default;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();

  base::Expected<void> open();

  // Edge-triggered for reading and writing: register once, then read and write until EAGAIN or a short count.
  base::Expected<void> add(int fd, Watcher& watcher);
  // Call before closing `fd`. Events of `watcher` that were already fetched in this turn are dropped.
  void remove(int fd, Watcher& watcher);

  Timers& timers() { return timers_; }

  // The time as of the latest turn; refresh() reads the clock again.
  base::Instant now() const { return now_; }
  base::Instant refresh() { return now_ = base::now(); }

  // One turn: waits until something is ready, a timer is due, or `until`; then serves both. Watchers whose ready()
  // equals `Fast::on_ready` are called directly, so that the compiler sees through the call.
  template <class Fast>
  void turn(base::Instant until) {
    const int count = wait(until);
    pending_ = std::span(events_.data(), static_cast<std::size_t>(count));
    while (!pending_.empty()) {
      const epoll_event event = pending_.front();
      pending_ = pending_.subspan(1);
      auto* watcher = static_cast<Watcher*>(event.data.ptr);
      if (watcher == nullptr) continue;
      if (watcher->ready() == &Fast::on_ready) {
        Fast::on_ready(*watcher, event.events);
      } else {
        watcher->ready()(*watcher, event.events);
      }
    }
    timers_.fire(now_);
  }

  // The same where no kind of watcher stands out.
  void turn(base::Instant until) { turn<Loop>(until); }

 private:
  static void on_ready(Watcher&, std::uint32_t) {}
  int wait(base::Instant until);
  int wait_briefly(base::Instant deadline, int room);
  void arm_alarm(base::Instant deadline);

  int epoll_ = -1;
  int alarm_ = -1;            // timerfd for deadlines that are not near
  base::Instant alarm_at_{};  // when it rings
  bool precise_ = true;       // the kernel has epoll_pwait2
  base::Instant now_{};
  Timers timers_;
  std::array<epoll_event, kMaxEvents> events_;
  std::span<epoll_event> pending_;
};

}  // namespace muster::reactor
