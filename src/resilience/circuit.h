// A circuit breaker for one peer: closed while it answers, open after several failures within a window, and half-open,
// for a few trials, before it closes again. A plain value; the owner says what failed and asks before it calls.
#pragma once

#include <array>
#include <cstdint>

#include "base/time.h"
#include "resilience/options.h"

namespace muster::resilience {

enum class CircuitState : std::uint8_t { kClosed, kOpen, kHalfOpen };

// Whether a circuit may go from one state to the other: closed → open → half-open → closed or open again.
constexpr bool legal(CircuitState from, CircuitState to) {
  switch (from) {
    case CircuitState::kClosed:
      return to == CircuitState::kOpen;
    case CircuitState::kOpen:
      return to == CircuitState::kHalfOpen;
    case CircuitState::kHalfOpen:
      return to != CircuitState::kHalfOpen;
  }
  return false;
}

class Circuit {
 public:
  explicit Circuit(const CircuitOptions& options = {});

  // Whether a call may be made now. Half-open it takes one of the places for trials, so every true is to be followed by
  // succeeded() or failed(); the place of one that never tells is free again after options.open_for.
  bool allow(base::Instant now);

  // The same without taking a place, for choosing among peers.
  bool would_allow(base::Instant now) const;

  // What became of a call. An open circuit listens to neither: it has decided. A refusal is an answer, so a success.
  void succeeded(base::Instant now);
  void failed(base::Instant now);

  CircuitState state(base::Instant now) const;
  std::uint32_t trials() const { return trials_; }  // half-open: under way, never above the quota; otherwise 0

  // When an open circuit becomes half-open, or trials without an answer are given up; kNever if closed.
  base::Instant deadline() const;

 private:
  void advance(base::Instant now);
  void open(base::Instant now);
  bool place_free(base::Instant now) const;

  CircuitOptions options_;
  CircuitState state_ = CircuitState::kClosed;
  std::array<base::Instant, kMaxCircuitFailures> failed_at_{};  // a ring of the last ones
  std::uint32_t failures_ = 0;                                  // since it closed; their times in the ring
  std::uint32_t trials_ = 0;
  std::uint32_t successes_ = 0;  // since it became half-open
  base::Instant since_{};        // open: when it opened; half-open: when the last trial began
};

}  // namespace muster::resilience
