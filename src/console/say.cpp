#include "console/say.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>

#include "base/time.h"

namespace muster::console {
namespace {

constexpr base::Duration kPatience = std::chrono::seconds(2);

// `muster try` prints on the threads that make the load.
std::atomic<bool> lost{false};    // something on standard output
std::atomic<bool> closed{false};  // and that because nobody reads it any more
std::atomic<bool> stuck{false};   // some reader, when it was last looked at

// Whether it takes more within the time, however many signals come.
bool takes_more(int file, base::Duration patience) {
  const base::Instant until = base::now() + patience;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - base::now()).count();
    pollfd writable{.fd = file, .events = POLLOUT, .revents = 0};
    const int ready = poll(&writable, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

}  // namespace

// Not by the stream: after an interrupted write it would lose what it holds.
void put(std::FILE* to, std::string_view text) {
  bool good = std::fflush(to) == 0;
  const int file = fileno(to);
  if (stuck && !takes_more(file, base::Duration::zero())) return;
  stuck = false;
  while (!text.empty()) {
    const ssize_t size = write(file, text.data(), text.size());
    if (size >= 0) {
      text.remove_prefix(static_cast<std::size_t>(size));
    } else if (errno == EINTR) {
      stuck = !takes_more(file, kPatience);
      if (stuck) break;
    } else {
      if (errno == EPIPE && to == stdout) closed = true;
      good = false;
      break;
    }
  }
  if (!good && to == stdout) lost = true;
}

bool standard_output_closed() {
  return closed;
}

bool standard_output_lost() {
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || lost;
  return failed && !standard_output_unread();  // nobody keeps why it failed; a reader that has gone had what it wanted
}

bool standard_output_unread() {
  pollfd output{.fd = fileno(stdout), .events = POLLOUT, .revents = 0};
  return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

}  // namespace muster::console
