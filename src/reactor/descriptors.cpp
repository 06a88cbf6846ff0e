#include "reactor/descriptors.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace muster::reactor {
namespace {

// However many are asked for and allowed: 8 MiB of the kernel's memory.
constexpr std::uint64_t kMostReserved = 1 << 20;

}  // namespace

void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void reserve_descriptors(std::uint64_t count) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const std::uint64_t wanted = std::min({count, std::uint64_t{limit.rlim_cur}, kMostReserved});
  if (wanted == 0) return;
  const int any = eventfd(0, EFD_CLOEXEC);
  if (any < 0) return;
  // The table never shrinks: a descriptor with the highest number, for a moment, is enough.
  const int highest = fcntl(any, F_DUPFD_CLOEXEC, static_cast<int>(wanted - 1));
  if (highest >= 0) close(highest);
  close(any);
}

}  // namespace muster::reactor
