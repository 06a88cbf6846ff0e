#include "resilience/circuit.h"

#include <algorithm>

namespace muster::resilience {

Circuit::Circuit(const CircuitOptions& options) : options_(options) {
  options_.failures = std::clamp(options_.failures, 1u, kMaxCircuitFailures);
  options_.half_open_trials = std::max(options_.half_open_trials, 1u);
  options_.successes_to_close = std::max(options_.successes_to_close, 1u);
}

bool Circuit::allow(base::Instant now) {
  advance(now);
  if (state_ == CircuitState::kClosed) return true;
  if (state_ == CircuitState::kOpen || !place_free(now)) return false;
  if (trials_ >= options_.half_open_trials) trials_ = 0;  // none of them told for too long
  ++trials_;
  since_ = now;
  return true;
}

bool Circuit::would_allow(base::Instant now) const {
  if (state_ == CircuitState::kClosed) return true;
  if (state_ == CircuitState::kOpen) return state(now) == CircuitState::kHalfOpen;
  return place_free(now);
}

void Circuit::succeeded(base::Instant now) {
  advance(now);
  if (state_ != CircuitState::kHalfOpen || trials_ == 0) return;
  --trials_;
  if (++successes_ < options_.successes_to_close) return;
  state_ = CircuitState::kClosed;
  failures_ = 0;
  trials_ = 0;
}

void Circuit::failed(base::Instant now) {
  advance(now);
  if (state_ == CircuitState::kOpen) return;
  if (state_ == CircuitState::kHalfOpen) {
    // One from before the circuit opened says nothing new.
    if (trials_ != 0) open(now);
    return;
  }
  failed_at_[failures_ % options_.failures] = now;
  ++failures_;
  if (failures_ < options_.failures) return;
  if (failures_ == 2 * options_.failures) failures_ = options_.failures;
  const base::Instant oldest = failed_at_[failures_ % options_.failures];
  if (now - oldest < options_.window) open(now);
}

CircuitState Circuit::state(base::Instant now) const {
  return state_ == CircuitState::kOpen && now - since_ >= options_.open_for ? CircuitState::kHalfOpen : state_;
}

base::Instant Circuit::deadline() const {
  if (state_ == CircuitState::kOpen) return since_ + options_.open_for;
  if (state_ == CircuitState::kHalfOpen && trials_ != 0) return since_ + options_.open_for;
  return base::kNever;
}

void Circuit::advance(base::Instant now) {
  if (state_ == state(now)) return;
  state_ = CircuitState::kHalfOpen;
  trials_ = 0;
  successes_ = 0;
}

void Circuit::open(base::Instant now) {
  state_ = CircuitState::kOpen;
  since_ = now;
  trials_ = 0;
}

bool Circuit::place_free(base::Instant now) const {
  return trials_ < options_.half_open_trials || now - since_ >= options_.open_for;
}

}  // namespace muster::resilience
