// A process beside the run that does what may block or hang: writing to a disk or a FIFO, or running a command. The
// run feeds it lines through a pipe and never waits for it (docs/adr/0015). Owned by an output; ended with it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/time.h"
#include "report/feed.h"

namespace muster::report {

// For a child: `signal` comes when its parent ends. False if that has happened already.
bool end_with_parent(pid_t parent, int signal);

class SideProcess {
 public:
  explicit SideProcess(std::size_t limit = kFeedBytes) : feed_(limit) {}
  SideProcess(const SideProcess&) = delete;
  SideProcess& operator=(const SideProcess&) = delete;
  // Ends it, where it has not ended.
  ~SideProcess();

  // Forks: the caller must have no other threads. The child calls `body` with the reading end of the pipe, keeps no
  // other descriptor than `keep` (-1: none) and standard error, and exits with what `body` returns. It does not see the
  // user's Ctrl-C.
  base::Expected<void> start(int keep, const std::function<int(int input)>& body);

  void put(std::string_view line) { feed_.put(line); }
  const Feed& feed() const { return feed_; }

  // Sends on what waits and looks whether it has ended; its exit status, or 128 and the number of the signal.
  std::optional<int> look();
  // Sends what is left, says that there is no more, and waits for its end; nothing if that did not come before the
  // deadline or a signal that has a handler (Ctrl-C).
  std::optional<int> finish(base::Instant deadline);
  // It was a signal that ended the wait.
  bool interrupted() const { return interrupted_; }
  // SIGTERM, a wait, SIGKILL, and no more waiting: a process that hangs in the kernel cannot be ended.
  void end(base::Duration patience);

 private:
  bool reap();
  bool wait(base::Instant deadline);

  Feed feed_;
  pid_t child_ = -1;
  int handle_ = -1;  // pidfd: readable when it has ended
  std::optional<int> status_;
  bool interrupted_ = false;
};

}  // namespace muster::report
