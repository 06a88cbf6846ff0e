// Keeps a core's records safe while it is inside its script. A script may never come back; whoever watches the core can
// then seize the gate, and the records with it. A core that comes back after that finds the gate shut and waits there
// for the end of its process.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace muster::engine {

class ScriptGate {
 public:
  // The core's side, in turns.
  void enter() { state_.store(State::kInside, std::memory_order_release); }
  void leave() {
    State inside = State::kInside;
    if (state_.compare_exchange_strong(inside, State::kOutside, std::memory_order_acq_rel)) [[likely]]
      return;
    while (true) pause();
  }

  // The watcher's side. True: the core is inside its script and will not touch its records again.
  bool seize() {
    State inside = State::kInside;
    return state_.compare_exchange_strong(inside, State::kSeized, std::memory_order_acq_rel);
  }

  // The core is inside its script for the life of this.
  class Inside {
   public:
    explicit Inside(ScriptGate& gate) : gate_(gate) { gate_.enter(); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { gate_.leave(); }

   private:
    ScriptGate& gate_;
  };

  // The script called back: the core is outside of it for the life of this.
  class Outside {
   public:
    explicit Outside(ScriptGate& gate) : gate_(gate) { gate_.leave(); }
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;
    ~Outside() { gate_.enter(); }

   private:
    ScriptGate& gate_;
  };

 private:
  enum class State : std::uint8_t { kOutside, kInside, kSeized };
  std::atomic<State> state_{State::kOutside};
};

}  // namespace muster::engine
