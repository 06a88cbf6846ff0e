#include "reactor/wake.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace muster::reactor {

base::Expected<void> Wake::open(Loop& loop, void (*woken)(void* owner), void* owner) {
  fd_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (fd_ < 0)
    return base::fail(
        fmt::format("cannot create an eventfd: {}; raise the limit of open files, `ulimit -n`", std::strerror(errno)));
  loop_ = &loop;
  woken_ = woken;
  owner_ = owner;
  return loop.add(fd_, *this);
}

void Wake::close() {
  if (fd_ < 0) return;
  loop_->remove(fd_, *this);
  ::close(fd_);
  fd_ = -1;
}

void Wake::ring() {
  const std::uint64_t one = 1;
  // A full counter means that the loop is about to wake anyway.
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof(one));
}

void Wake::on_ready(Watcher& watcher, std::uint32_t /*events*/) {
  auto& self = static_cast<Wake&>(watcher);
  std::uint64_t count = 0;
  while (read(self.fd_, &count, sizeof(count)) == sizeof(count)) {
  }
  self.woken_(self.owner_);
}

}  // namespace muster::reactor
