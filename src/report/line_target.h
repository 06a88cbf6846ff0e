// Where an output's lines go: a file, a pipe, standard output, or a command. None of its calls waits for the far end
// except close(), which waits a bounded time, and no longer than until a signal that has a handler (Ctrl-C). Owned by
// one output; one thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace muster::report {

// What close() says when a signal ended its wait.
constexpr std::string_view kInterrupted = "interrupted before all of it was read";

class LineTarget {
 public:
  LineTarget() = default;
  LineTarget(const LineTarget&) = delete;
  LineTarget& operator=(const LineTarget&) = delete;
  virtual ~LineTarget() = default;

  // Says what is wrong before the run begins. Forks: there are no other threads yet.
  virtual base::Expected<void> open() = 0;
  virtual void put(std::string_view line) = 0;
  // Sends on what waits. What went wrong since the last look, each thing once.
  virtual base::Expected<void> look() = 0;
  // After the last line.
  virtual base::Expected<void> close() = 0;
};

// "-" is standard output. A file's old content goes when the first line comes.
std::unique_ptr<LineTarget> lines_to_file(std::string path);
// `command` is what a shell understands; it gets the lines on its standard input.
std::unique_ptr<LineTarget> lines_to_command(std::string command);

}  // namespace muster::report
