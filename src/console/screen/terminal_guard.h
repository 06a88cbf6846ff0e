// Puts the terminal back as it was when the process dies without running destructors: a fault, abort(), SIGQUIT, a call
// to exit(). What it does then is async-signal-safe. One object at a time, on the main thread; a forked child that dies
// touches nothing.
#pragma once

#include <termios.h>

namespace muster::console {

class TerminalGuard {
 public:
  TerminalGuard();
  ~TerminalGuard();  // puts back what is still held
  TerminalGuard(const TerminalGuard&) = delete;
  TerminalGuard& operator=(const TerminalGuard&) = delete;

  // A screen on `descriptor` (non-blocking) that has to be left, and the settings to go back to.
  void hold_terminal(int descriptor, const termios& settings);
  // Leaves the screen and restores the settings now, if they are held. Waits kLeaveTime at most.
  void put_back_terminal();

  // Standard error was redirected: `original` is where it went, `captured` the end of the pipe to read the rest from.
  void hold_errors(int original, int captured);
  // Standard error goes where it went. What is left in the pipe stays there.
  void put_back_errors();
};

}  // namespace muster::console
