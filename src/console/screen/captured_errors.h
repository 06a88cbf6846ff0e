// Standard error while a screen is up: what this process and its children write there would tear the screen, so it goes
// through a pipe instead and is kept for the end, the oldest lines going first. Writers never wait for it. Owned by the
// view, one thread; the destructor gives standard error back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "console/screen/terminal_guard.h"

namespace muster::console {

class CapturedErrors {
 public:
  // Captures if standard error is a terminal; otherwise it disturbs nobody and stays as it is.
  explicit CapturedErrors(TerminalGuard& guard);
  ~CapturedErrors();
  CapturedErrors(const CapturedErrors&) = delete;
  CapturedErrors& operator=(const CapturedErrors&) = delete;

  // To wait on; -1 if nothing is captured.
  int descriptor() const { return captured_; }
  // Reads what there is; never waits. True if there was anything.
  bool take();
  // The last lines, oldest first.
  std::vector<std::string> latest(std::size_t count) const;
  // Gives standard error back and returns what was kept, ready to print.
  std::string end();

 private:
  TerminalGuard& guard_;
  int original_ = -1;
  int captured_ = -1;
  std::string kept_;
  std::uint64_t left_out_ = 0;  // lines
};

}  // namespace muster::console
