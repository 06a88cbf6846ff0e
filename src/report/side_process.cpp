#include "report/side_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <system_error>

namespace muster::report {
namespace {

// Closes every descriptor but these. Other outputs' pipes must not be held open by this one's process.
void keep_only(std::array<int, 3> kept) {
  std::ranges::sort(kept);
  unsigned next = 0;
  for (const int descriptor : kept) {
    if (descriptor < 0) continue;
    const auto number = static_cast<unsigned>(descriptor);
    if (number > next) ::close_range(next, number - 1, 0);
    next = std::max(next, number + 1);
  }
  ::close_range(next, UINT_MAX, 0);
}

std::unexpected<base::Error> system_failure(std::string_view what) {
  return base::fail(fmt::format("cannot {}: {}", what, std::generic_category().message(errno)));
}

}  // namespace

SideProcess::~SideProcess() {
  end(kCommandKillAfter + std::chrono::seconds(1));
  if (handle_ >= 0) ::close(handle_);
}

bool end_with_parent(pid_t parent, int signal) {
  ::prctl(PR_SET_PDEATHSIG, signal);
  return ::getppid() == parent;
}

base::Expected<void> SideProcess::start(int keep, const std::function<int(int input)>& body) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_failure("open a pipe");
  child_ = ::fork();
  if (child_ < 0) {
    const int error = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    errno = error;
    return system_failure("start a process for it");
  }
  if (child_ == 0) {
    ::setpgid(0, 0);
    ::signal(SIGINT, SIG_IGN);
    ::signal(SIGHUP, SIG_IGN);
    ::signal(SIGTTOU, SIG_IGN);  // it may write to a terminal though it is in the background
    ::signal(SIGTERM, SIG_DFL);
    ::prctl(PR_SET_NAME, "muster-output");
    keep_only({ends[0], keep, STDERR_FILENO});
    ::_exit(body(ends[0]));
  }
  ::close(ends[0]);
  handle_ = static_cast<int>(::syscall(SYS_pidfd_open, child_, 0));
  feed_.open(ends[1]);
  return {};
}

bool SideProcess::reap() {
  if (status_ || child_ <= 0) return true;
  int status = 0;
  if (::waitpid(child_, &status, WNOHANG) != child_) return false;
  status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return true;
}

std::optional<int> SideProcess::look() {
  feed_.pump();
  reap();
  return status_;
}

bool SideProcess::wait(base::Instant deadline) {
  while (!reap()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - base::now()).count();
    if (left <= 0) return false;
    pollfd ended{.fd = handle_, .events = POLLIN, .revents = 0};
    // Without a pidfd (an old kernel) this is a look every few milliseconds.
    const auto most = handle_ >= 0 ? std::int64_t{INT_MAX} : std::int64_t{10};
    const int ready = ::poll(&ended, 1, static_cast<int>(std::min<std::int64_t>(left, most)));
    if (ready >= 0 || errno != EINTR) continue;
    interrupted_ = true;
    return reap();
  }
  return true;
}

std::optional<int> SideProcess::finish(base::Instant deadline) {
  const bool all = feed_.flush(deadline);
  interrupted_ = feed_.interrupted();
  feed_.close();
  if (all || feed_.gone()) wait(deadline);
  return status_;
}

void SideProcess::end(base::Duration patience) {
  if (status_ || child_ <= 0) return;
  ::kill(child_, SIGTERM);
  feed_.close();
  // Not cut short by a signal: who is killed cannot end what it has started itself.
  for (const base::Instant deadline = base::now() + patience; base::now() < deadline;) {
    if (wait(deadline)) return;
  }
  ::kill(child_, SIGKILL);
  reap();
}

}  // namespace muster::report
