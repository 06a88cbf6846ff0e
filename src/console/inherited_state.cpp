#include "console/inherited_state.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <csignal>

namespace muster::console {
namespace {

void settle_signals() {
  std::signal(SIGCHLD, SIG_DFL);  // ignored, ended children vanish and are waited for in vain
  sigset_t needed;
  sigemptyset(&needed);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGTSTP, SIGCONT, SIGWINCH}) {
    sigaddset(&needed, number);
  }
  pthread_sigmask(SIG_UNBLOCK, &needed, nullptr);
}

// Each opened the wrong way round, so that what is read or written there fails as it would have.
void settle_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1) continue;
    // The lowest free number is this one, since those below are open by now.
    [[maybe_unused]] const int opened = open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

void settle_inherited_state() {
  settle_streams();
  settle_signals();
}

}  // namespace muster::console
