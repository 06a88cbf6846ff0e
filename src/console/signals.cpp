#include "console/signals.h"

#include <atomic>

namespace muster::console {
namespace {

// A handler reaches nothing but statics.
std::atomic<int> asked{0};

void ask(int /*signal*/) {
  asked.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Signals::Signals() {
  asked = 0;
  struct sigaction action{};
  action.sa_handler = ask;
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
}

Signals::~Signals() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
}

int Signals::count() const {
  return asked.load(std::memory_order_relaxed);
}

}  // namespace muster::console
