#include "console/screen/terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "console/screen/options.h"
#include "console/screen/paint.h"

namespace muster::console {
namespace {

// A handler reaches nothing but statics.
std::atomic<bool> continued{false};

void on_signal(int number) {
  if (number == SIGCONT) continued = true;
  // A new size needs no note: it is asked for with each frame. The signal ends the wait.
}

struct sigaction handled() {
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // poll() ends all the same
  return action;
}

// By the link that the kernel keeps, which also works where the terminal has no name here; else by the name of whatever
// terminal controls this process.
int open_again(int descriptor) {
  constexpr int kFlags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
  const int again = ::open(fmt::format("/proc/self/fd/{}", descriptor).c_str(), kFlags);
  return again >= 0 ? again : ::open("/dev/tty", kFlags);
}

}  // namespace

bool in_foreground(int descriptor) {
  const pid_t group = tcgetpgrp(descriptor);
  return group < 0 || group == getpgrp();  // no group: a terminal without job control
}

base::Expected<std::unique_ptr<Terminal>> Terminal::open(TerminalGuard& guard) {
  for (const int descriptor : {STDERR_FILENO, STDOUT_FILENO}) {
    if (isatty(descriptor) != 1) continue;
    const int again = open_again(descriptor);
    if (again >= 0) return std::unique_ptr<Terminal>(new Terminal(guard, again));
    return base::fail(fmt::format("cannot open the terminal: {}", std::strerror(errno)));
  }
  return base::fail("neither standard error nor standard output is a terminal");
}

Terminal::Terminal(TerminalGuard& guard, int descriptor) : guard_(guard), descriptor_(descriptor) {
  continued = false;
  const struct sigaction action = handled();
  sigaction(SIGWINCH, &action, &old_resize_);
  sigaction(SIGCONT, &action, &old_continue_);
}

Terminal::~Terminal() {
  leave();
  sigaction(SIGWINCH, &old_resize_, nullptr);
  sigaction(SIGCONT, &old_continue_, nullptr);
  close(descriptor_);
}

bool Terminal::foreground() const {
  return in_foreground(descriptor_);
}

bool Terminal::attend() {
  if (gone_) return false;
  const bool back = continued.exchange(false);
  if (entered_ && back) {
    // Somebody else may have used the terminal meanwhile.
    pending_.clear();
    if (!foreground()) {
      entered_ = false;
      return false;
    }
    apply();
    return true;
  }
  if (entered_ || !foreground()) return false;
  enter();
  return entered_;
}

void Terminal::enter() {
  if (tcgetattr(descriptor_, &settings_) != 0) {
    gone_ = true;
    return;
  }
  guard_.hold_terminal(descriptor_, settings_);
  entered_ = true;
  apply();
}

void Terminal::apply() {
  termios raw = settings_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ECHONL | IEXTEN);  // ISIG stays: Ctrl-C and Ctrl-Z are signals
  raw.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL | INLCR);             // Ctrl-S must not freeze the screen
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  tcsetattr(descriptor_, TCSANOW, &raw);
  write(kEnterScreen);
}

void Terminal::leave() {
  if (!entered_) return;
  entered_ = false;
  pending_.clear();  // a sequence that is cut here is ended by the one that leaves
  guard_.put_back_terminal();
}

Size Terminal::size() const {
  winsize window{};
  if (ioctl(descriptor_, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0) return {80, 24};
  return {std::min<std::size_t>(window.ws_col, kMaxColumns), std::min<std::size_t>(window.ws_row, kMaxRows)};
}

void Terminal::write(std::string_view bytes) {
  if (!shown()) return;
  pending_ += bytes;
  flush();
}

void Terminal::flush() {
  while (!pending_.empty()) {
    const ssize_t size = ::write(descriptor_, pending_.data(), pending_.size());
    if (size > 0) {
      pending_.erase(0, static_cast<std::size_t>(size));
      continue;
    }
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno != EAGAIN) {
      gone_ = true;
      pending_.clear();
    }
    return;
  }
}

std::string Terminal::read() {
  if (!shown()) return {};
  std::array<char, kMaxKeyBytes> bytes;
  const ssize_t size = ::read(descriptor_, bytes.data(), bytes.size());
  if (size > 0) return {bytes.data(), static_cast<std::size_t>(size)};
  if (size == 0 || (errno != EAGAIN && errno != EINTR)) gone_ = true;
  return {};
}

void Terminal::wait(base::Duration longest, int other) {
  const base::Instant until = base::now() + longest;
  for (;;) {
    const base::Duration left = until - base::now();
    if (left <= base::Duration::zero()) return;
    const auto events = static_cast<short>(busy() ? POLLIN | POLLOUT : POLLIN);
    std::array<pollfd, 2> waiting = {{{.fd = shown() ? descriptor_ : -1, .events = events, .revents = 0},
                                      {.fd = other, .events = POLLIN, .revents = 0}}};
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    const int ready = poll(waiting.data(), waiting.size(), static_cast<int>(milliseconds));
    if (ready <= 0) return;  // the time is over, or a signal came
    if ((waiting[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) gone_ = true;
    if ((waiting[0].revents & POLLOUT) != 0) flush();
    if ((waiting[0].revents & POLLIN) != 0 || waiting[1].revents != 0) return;
  }
}

}  // namespace muster::console
