// Turns cumulative values, which arrive late, twice, out of order or not at all, into windows of time and totals that
// never fall. Windows go by when a value was collected and are closed a while after their end; what comes later still
// counts in the totals. One per stream (a workflow at its manager, a job at its gate); owned by the brain that shows
// it.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <ranges>
#include <utility>

#include "base/time.h"
#include "metrics/options.h"

namespace muster::metrics {

// A value that only grows: since(earlier) is what was added, or nothing if it cannot have grown out of `earlier`.
template <class Value>
concept Cumulative = std::default_initializable<Value> && requires(Value value, const Value& other) {
  value.add(other);
  { other.since(other) } -> std::same_as<std::optional<Value>>;
};

enum class Taken : std::uint8_t {
  kCounted,  // in its window and in the total
  kAmended,  // too late for its window: in the total alone
  kStale,    // a newer one of that source was there already, and it is cumulative: nothing is lost
  kFell,     // not a later state of what its source told before: refused
  kFull,     // one source too many (kMaxWindowSources): refused
};

// Source is ordered: a part with its attempt, or a datacenter.
template <class Source, Cumulative Value>
class TimeWindows {
 public:
  struct Window {
    std::uint64_t number = 0;    // its start / kWindowLength on the clock's time line
    std::uint32_t reported = 0;  // sources that told something collected in it
    Value added{};
  };

  // Windows are closed this long after their end: kManagerWindowDelay, kGateWindowDelay.
  explicit TimeWindows(base::Duration close_after) : close_after_(close_after) {}

  // `sequence` rises from one value of a source to its next; `collected` is on the clock of `now`, corrected by whoever
  // knows the offset, and what claims to be from the future counts as of now.
  Taken take(const Source& source, std::uint64_t sequence, base::Instant collected, const Value& value,
             base::Instant now) {
    close(now);
    auto found = sources_.find(source);
    if (found != sources_.end() && sequence <= found->second.sequence) return Taken::kStale;
    auto added = found == sources_.end() ? std::optional(value) : value.since(found->second.value);
    if (!added) return Taken::kFell;
    if (found == sources_.end()) {
      if (sources_.size() >= kMaxWindowSources) return Taken::kFull;
      found = sources_.emplace(source, State{}).first;
    }
    State& state = found->second;
    total_.add(*added);
    if (state.lost) lost_.add(*added);
    state.sequence = sequence;
    state.value = value;
    return put(state, number_of(std::min(collected, now)), *added);
  }

  // The source was an attempt that is lost: what it counted, and what may still arrive, stays in the total and is told
  // as lost.
  void lose(const Source& source) {
    const auto found = sources_.find(source);
    if (found == sources_.end() || found->second.lost) return;
    found->second.lost = true;
    lost_.add(found->second.value);
  }

  // Closes what is due, and forgets closed windows kWindowMemory after their end.
  void close(base::Instant now) {
    while (!open_.empty() && closes_at(open_.begin()->first) <= now) {
      closed_.push_back(std::move(open_.begin()->second));
      open_.erase(open_.begin());
    }
    const base::Instant latest = now - close_after_ - kWindowLength;
    if (latest >= base::Instant{}) next_ = std::max(next_, number_of(latest) + 1);
    while (!closed_.empty() && start_of(closed_.front().number + 1) + kWindowMemory <= now) closed_.pop_front();
  }

  // When a window is to be closed; kNever if none is open.
  base::Instant deadline() const { return open_.empty() ? base::kNever : closes_at(open_.begin()->first); }

  // The closed windows that are remembered, ascending, from the first one with at least this number on.
  auto closed_from(std::uint64_t number) const {
    const auto first =
        std::lower_bound(closed_.begin(), closed_.end(), number,
                         [](const Window& window, std::uint64_t wanted) { return window.number < wanted; });
    return std::ranges::subrange(first, closed_.end());
  }

  // The sum of the last values of all sources, silent ones included. Never falls.
  const Value& total() const { return total_; }
  // The share of it that lost attempts counted.
  const Value& lost() const { return lost_; }

  static constexpr base::Instant start_of(std::uint64_t number) {
    return base::Instant(kWindowLength * static_cast<std::int64_t>(number));
  }

 private:
  struct State {
    std::uint64_t sequence = 0;
    std::optional<std::uint64_t> window;  // the last one that it reported in
    bool lost = false;
    Value value{};
  };

  static std::uint64_t number_of(base::Instant at) {
    return static_cast<std::uint64_t>(std::max(at, base::Instant{}).time_since_epoch() / kWindowLength);
  }

  base::Instant closes_at(std::uint64_t number) const { return start_of(number + 1) + close_after_; }

  Taken put(State& state, std::uint64_t number, const Value& added) {
    // A source's time does not go back, whatever became of its clock's offset.
    if (state.window) number = std::max(number, *state.window);
    if (number < next_) return Taken::kAmended;
    Window& window = open_.try_emplace(number, Window{.number = number}).first->second;
    window.added.add(added);
    if (state.window != number) ++window.reported;
    state.window = number;
    return Taken::kCounted;
  }

  base::Duration close_after_;
  std::map<Source, State> sources_;
  std::map<std::uint64_t, Window> open_;  // those with something in them
  std::deque<Window> closed_;             // ascending
  std::uint64_t next_ = 0;                // the first window that is not closed
  Value total_{};
  Value lost_{};
};

}  // namespace muster::metrics
