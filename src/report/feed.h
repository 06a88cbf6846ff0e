// Lines into a pipe without ever waiting for its reader: what does not fit in the pipe waits in a buffer of bounded
// size (one line may be larger than that), and what does not fit there either is dropped, whole lines only, and
// counted. Owned by an output; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/time.h"
#include "report/options.h"

namespace muster::report {

class Feed {
 public:
  explicit Feed(std::size_t limit = kFeedBytes) : limit_(limit) {}
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;
  ~Feed() { close(); }

  // Takes the writing end of a pipe over. SIGPIPE is ignored by whoever uses this.
  void open(int pipe);
  // Says to the reader that there is no more; what waits is given up.
  void close();

  // False: it was dropped, or the reader has gone.
  bool put(std::string_view line);
  // Writes what the pipe takes now.
  void pump();
  // The same until all is written, the reader has gone, time is over, or a signal comes that has a handler: whoever
  // presses Ctrl-C now waits for this. True if nothing waits any more.
  bool flush(base::Instant deadline);

  bool gone() const { return gone_; }                // the reader closed its end
  bool interrupted() const { return interrupted_; }  // flush() was ended by a signal
  std::uint64_t lines() const { return lines_; }
  std::uint64_t dropped() const { return dropped_; }  // also those that waited when it was closed

 private:
  std::size_t limit_;
  int pipe_ = -1;
  bool gone_ = false;
  bool interrupted_ = false;
  std::deque<std::string> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::size_t written_ = 0;  // of the first line that waits
  std::uint64_t lines_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace muster::report
