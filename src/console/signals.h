// Ctrl-C, SIGTERM and the loss of the terminal as a count that the run's loop looks at. One object at a time; restores
// what was set before.
#pragma once

#include <csignal>

namespace muster::console {

class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // How often the user asked for the end. A hang-up counts once: the shell and the kernel both tell of it.
  int count() const;

 private:
  struct sigaction old_interrupt_{};
  struct sigaction old_terminate_{};
  struct sigaction old_hang_up_{};
};

}  // namespace muster::console
