#include "console/signals.h"

#include <atomic>

namespace muster::console {
namespace {

// A handler reaches nothing but statics.
std::atomic<int> asked{0};
std::atomic<bool> hung_up{false};

void ask(int number) {
  if (number == SIGHUP && hung_up.exchange(true, std::memory_order_relaxed)) return;
  asked.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Signals::Signals() {
  asked = 0;
  hung_up = false;
  struct sigaction action{};
  action.sa_handler = ask;  // not SA_RESTART: a signal has to end the wait for a reader that is stuck (say.h)
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
  sigaction(SIGHUP, nullptr, &old_hang_up_);
  if (old_hang_up_.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup
}

Signals::~Signals() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
  sigaction(SIGHUP, &old_hang_up_, nullptr);
}

int Signals::count() const {
  return asked.load(std::memory_order_relaxed);
}

}  // namespace muster::console
