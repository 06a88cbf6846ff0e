#include "resilience/sliding_window.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace muster::resilience {
namespace {

struct Place {
  std::int64_t window = 0;
  base::Duration elapsed{};  // within it
};

Place place_of(base::Duration length, base::Instant now) {
  const base::Duration since = now.time_since_epoch();
  std::int64_t window = since / length;
  if (since < length * window) --window;  // division rounds towards zero
  return {window, since - length * window};
}

// How far into a window `previous` must have faded for `room` to be enough, rounded up.
base::Duration faded(std::uint32_t previous, std::uint32_t room, base::Duration length) {
  if (previous <= room) return base::Duration::zero();
  const double kept = static_cast<double>(room) / previous;
  return base::Duration(static_cast<std::int64_t>(std::ceil(static_cast<double>(length.count()) * (1.0 - kept))));
}

}  // namespace

bool SlidingWindow::admit(std::uint32_t limit, base::Duration length, base::Instant now) {
  *this = advanced(length, now);
  if (current_ >= limit) return false;
  const base::Duration left = length - place_of(length, now).elapsed;
  const auto weighted = static_cast<base::Wide>(previous_) * static_cast<std::uint64_t>(left.count());
  const auto room = static_cast<base::Wide>(limit - current_ - 1) * static_cast<std::uint64_t>(length.count());
  if (weighted > room) return false;
  ++current_;
  return true;
}

base::Duration SlidingWindow::wait(std::uint32_t limit, base::Duration length, base::Instant now) const {
  if (limit == 0) return 2 * length;
  const SlidingWindow at = advanced(length, now);
  const base::Duration elapsed = place_of(length, now).elapsed;
  if (at.current_ < limit) {
    const base::Duration ready = faded(at.previous_, limit - at.current_ - 1, length);
    if (ready < length) return std::max(base::Duration::zero(), ready - elapsed);
  }
  return length - elapsed + faded(at.current_, limit - 1, length);
}

double SlidingWindow::count(base::Duration length, base::Instant now) const {
  const SlidingWindow at = advanced(length, now);
  const double progress = base::seconds(place_of(length, now).elapsed) / base::seconds(length);
  return at.current_ + at.previous_ * (1.0 - progress);
}

SlidingWindow SlidingWindow::advanced(base::Duration length, base::Instant now) const {
  const std::int64_t window = place_of(length, now).window;
  if (window <= window_) return *this;
  SlidingWindow next;
  next.window_ = window;
  next.previous_ = window == window_ + 1 ? current_ : 0;
  return next;
}

}  // namespace muster::resilience
