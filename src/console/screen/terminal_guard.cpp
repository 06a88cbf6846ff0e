#include "console/screen/terminal_guard.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "console/screen/options.h"
#include "console/screen/paint.h"

namespace muster::console {
namespace {

// Those that end a process, apart from the ones that the run itself answers to (INT, TERM, HUP) and KILL.
constexpr std::array<int, 14> kDeadly = {SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,  SIGFPE,  SIGSEGV,
                                         SIGSYS,  SIGXCPU, SIGXFSZ, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM};

// A handler reaches nothing but statics.
struct Held {
  std::atomic<pid_t> owner{0};
  std::atomic<int> terminal{-1};
  termios settings{};
  std::atomic<int> errors{-1};
  std::atomic<int> captured{-1};
  std::array<struct sigaction, kDeadly.size()> before{};
  stack_t stack_before{};
};
Held held;

// A stack overflow leaves no room on the stack for the handler.
std::array<char, std::size_t{64} * 1024> handler_stack;

// True if the terminal took it all within the time.
bool write_bounded(int descriptor, std::string_view bytes) {
  int milliseconds = static_cast<int>(kLeaveTime / std::chrono::milliseconds(1));
  constexpr int kStep = 20;
  while (!bytes.empty()) {
    const ssize_t size = write(descriptor, bytes.data(), bytes.size());
    if (size > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(size));
      continue;
    }
    if (size < 0 && errno != EAGAIN && errno != EINTR) return true;  // nobody is there: nothing to leave
    if (milliseconds <= 0) return false;
    pollfd waiting{.fd = descriptor, .events = POLLOUT, .revents = 0};
    poll(&waiting, 1, kStep);
    milliseconds -= kStep;
  }
  return true;
}

void put_terminal_back() {
  const int terminal = held.terminal.exchange(-1);
  if (terminal < 0) return;
  // Without this, a process in the background would be stopped for touching the terminal.
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTTOU);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  if (!write_bounded(terminal, kLeaveScreen)) {
    // The terminal does not take what was drawn: it is thrown away, so that at least this arrives.
    tcflush(terminal, TCOFLUSH);
    write_bounded(terminal, kLeaveScreen);
  }
  tcsetattr(terminal, TCSANOW, &held.settings);
  tcflush(terminal, TCIFLUSH);  // keys meant for the screen are not for the shell
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

void put_errors_back() {
  const int errors = held.errors.exchange(-1);
  if (errors >= 0) dup2(errors, STDERR_FILENO);
}

// For a process that will not come back to its own code.
void put_all_back() {
  if (held.owner.load() != getpid()) return;
  put_terminal_back();
  const int captured = held.captured.exchange(-1);
  const int errors = held.errors.load();
  put_errors_back();
  if (errors < 0 || captured < 0) return;
  std::array<char, 512> bytes;
  constexpr int kMostReads = 1024;
  for (int i = 0; i != kMostReads; ++i) {
    const ssize_t size = read(captured, bytes.data(), bytes.size());
    pollfd waiting{.fd = errors, .events = POLLOUT, .revents = 0};
    if (size <= 0 || poll(&waiting, 1, 0) != 1) return;
    [[maybe_unused]] const ssize_t written = write(errors, bytes.data(), static_cast<std::size_t>(size));
  }
}

void on_deadly(int number) {
  const int error = errno;
  put_all_back();
  for (std::size_t i = 0; i != kDeadly.size(); ++i) {
    if (kDeadly[i] == number) sigaction(number, &held.before[i], nullptr);
  }
  raise(number);  // delivered when this handler returns
  errno = error;
}

}  // namespace

TerminalGuard::TerminalGuard() {
  held.owner = getpid();
  static const bool registered = std::atexit(put_all_back) == 0;
  static_cast<void>(registered);
  stack_t stack{};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  sigaltstack(&stack, &held.stack_before);
  for (std::size_t i = 0; i != kDeadly.size(); ++i) {
    struct sigaction action{};
    action.sa_handler = on_deadly;
    action.sa_flags = SA_ONSTACK;
    sigaction(kDeadly[i], nullptr, &held.before[i]);
    const bool ignored = (held.before[i].sa_flags & SA_SIGINFO) == 0 && held.before[i].sa_handler == SIG_IGN;
    if (!ignored) sigaction(kDeadly[i], &action, nullptr);
  }
}

TerminalGuard::~TerminalGuard() {
  put_all_back();
  for (std::size_t i = 0; i != kDeadly.size(); ++i) sigaction(kDeadly[i], &held.before[i], nullptr);
  sigaltstack(&held.stack_before, nullptr);
  held.owner = 0;
}

void TerminalGuard::hold_terminal(int descriptor, const termios& settings) {
  held.settings = settings;
  held.terminal = descriptor;
}

void TerminalGuard::put_back_terminal() {
  put_terminal_back();
}

void TerminalGuard::hold_errors(int original, int captured) {
  held.captured = captured;
  held.errors = original;
}

void TerminalGuard::put_back_errors() {
  held.captured = -1;
  put_errors_back();
}

}  // namespace muster::console
