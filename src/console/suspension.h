// Ctrl-Z (SIGTSTP) as a question that the run's loop asks, so that the load can be held still before the process stops.
// One object at a time, main thread; restores what was set before. Where the signal is ignored it stays so.
#pragma once

#include <csignal>

namespace muster::console {

class Suspension {
 public:
  Suspension();
  ~Suspension();
  Suspension(const Suspension&) = delete;
  Suspension& operator=(const Suspension&) = delete;

  // Whether the process was asked to stop since the last time.
  bool asked();
  // Stops the process; returns when it is continued.
  void stop_here();

 private:
  struct sigaction old_{};
};

}  // namespace muster::console
