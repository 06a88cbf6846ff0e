// The terminal that the live screen is drawn on: its settings, its size, what is typed and what is written. Never waits
// for a terminal that does not take its bytes: they are kept until it does, and busy() tells. Draws nothing in the
// background, and takes the terminal back after. Owned by the view, main thread, one at a time; leaving it, in whatever
// way, puts everything back (TerminalGuard).
#pragma once

#include <signal.h>
#include <termios.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"
#include "console/screen/frame.h"
#include "console/screen/terminal_guard.h"

namespace muster::console {

class Terminal {
 public:
  // The terminal that standard error or standard output is. It is opened anew, so that nothing about the descriptors
  // that others share changes. `guard` outlives it.
  static base::Expected<std::unique_ptr<Terminal>> open(TerminalGuard& guard);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Takes the terminal if it can be had: keys unbuffered and without echo, an empty screen. Acts on coming back
  // from a stop. True if the screen is to be drawn from nothing.
  bool attend();
  // Whether there is a screen to draw on now.
  bool shown() const { return entered_ && !gone_; }
  // Gives the terminal back.
  void leave();

  Size size() const;
  bool busy() const { return !pending_.empty(); }
  void write(std::string_view bytes);
  // What was typed, kMaxKeyBytes at most.
  std::string read();
  // Until something is typed, `other` (a descriptor; -1: none) can be read, a signal comes, or the time is over. Writes
  // what is pending meanwhile.
  void wait(base::Duration longest, int other);

 private:
  Terminal(TerminalGuard& guard, int descriptor);

  bool foreground() const;
  void enter();
  void apply();
  void flush();

  TerminalGuard& guard_;
  int descriptor_;
  termios settings_{};  // as found
  std::string pending_;
  bool entered_ = false;
  bool gone_ = false;  // hung up
  struct sigaction old_resize_{};
  struct sigaction old_continue_{};
};

// Whether the terminal behind `descriptor` is there for this process: it is not in the background.
bool in_foreground(int descriptor);

}  // namespace muster::console
