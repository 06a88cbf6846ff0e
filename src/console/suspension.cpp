#include "console/suspension.h"

#include <atomic>

namespace muster::console {
namespace {

// A handler reaches nothing but statics.
std::atomic<bool> stop_asked{false};

struct sigaction stopping() {
  struct sigaction action{};
  action.sa_handler = [](int) { stop_asked = true; };
  action.sa_flags = SA_RESTART;  // poll() ends all the same
  return action;
}

}  // namespace

Suspension::Suspension() {
  stop_asked = false;
  sigaction(SIGTSTP, nullptr, &old_);
  const struct sigaction action = stopping();
  if (old_.sa_handler != SIG_IGN) sigaction(SIGTSTP, &action, nullptr);
}

Suspension::~Suspension() {
  sigaction(SIGTSTP, &old_, nullptr);
}

bool Suspension::asked() {
  return stop_asked.exchange(false);
}

// The default action, and not a stop by force: a process that nobody could continue is not stopped (POSIX, 2.4.3).
void Suspension::stop_here() {
  struct sigaction fallback{};
  fallback.sa_handler = SIG_DFL;
  sigaction(SIGTSTP, &fallback, nullptr);
  raise(SIGTSTP);
  const struct sigaction action = stopping();
  sigaction(SIGTSTP, &action, nullptr);
}

}  // namespace muster::console
