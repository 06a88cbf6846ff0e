#include "console/say.h"

#include <poll.h>

namespace muster::console {

bool standard_output_lost() {
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!failed) return false;
  // The stream does not keep why it failed. A pipe without a reader has its error set; that reader had what it wanted.
  pollfd output{.fd = fileno(stdout), .events = POLLOUT, .revents = 0};
  return poll(&output, 1, 0) < 1 || (output.revents & POLLERR) == 0;
}

}  // namespace muster::console
