#include "report/feed.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace muster::report {

void Feed::open(int pipe) {
  close();
  pipe_ = pipe;
  gone_ = false;
  ::fcntl(pipe_, F_SETFL, O_NONBLOCK);
  ::fcntl(pipe_, F_SETPIPE_SZ, kFeedPipeBytes);  // may be refused; then the pipe is as large as pipes are
}

void Feed::close() {
  if (pipe_ < 0) return;
  ::close(pipe_);
  pipe_ = -1;
  if (!gone_) dropped_ += waiting_.size();
  waiting_.clear();
  waiting_bytes_ = 0;
  written_ = 0;
}

bool Feed::put(std::string_view line) {
  if (pipe_ < 0 || gone_) return false;
  ++lines_;
  const auto fits = [&] { return waiting_.empty() || waiting_bytes_ + line.size() <= limit_; };
  if (!fits()) pump();
  if (!fits()) {
    ++dropped_;
    return false;
  }
  waiting_.emplace_back(line);
  waiting_bytes_ += line.size();
  return true;
}

void Feed::pump() {
  while (pipe_ >= 0 && !gone_ && !waiting_.empty()) {
    const std::string& line = waiting_.front();
    const ssize_t size = ::write(pipe_, line.data() + written_, line.size() - written_);
    if (size < 0) {
      if (errno == EINTR) continue;
      gone_ = errno != EAGAIN;
      return;
    }
    written_ += static_cast<std::size_t>(size);
    if (written_ != line.size()) continue;
    waiting_bytes_ -= line.size();
    waiting_.pop_front();
    written_ = 0;
  }
}

bool Feed::flush(base::Instant deadline) {
  for (;;) {
    pump();
    if (waiting_.empty() || gone_ || pipe_ < 0) return waiting_.empty();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - base::now()).count();
    if (left <= 0) return false;
    pollfd writable{.fd = pipe_, .events = POLLOUT, .revents = 0};
    const int ready = ::poll(&writable, 1, static_cast<int>(std::min<std::int64_t>(left, INT_MAX)));
    if (ready >= 0 || errno != EINTR) continue;
    interrupted_ = true;
    return false;
  }
}

}  // namespace muster::report
