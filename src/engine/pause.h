// Pauses: what a `think` waits for, and what a failure passes over. An iteration that fails takes the pauses that it
// passed over all the same before it ends: users who meet errors do not ask more often.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "base/time.h"

namespace muster::engine {

struct Think {
  base::Duration least{};
  base::Duration most{};
};

// The pauses of a stretch of steps that was not run. Which of its branches would have been is not known: of `choose`
// one is drawn by the weights, of `parallel` it is the one that waits longest, of `if` always `then`.
struct Pause {
  enum class Kind : std::uint8_t { kThink, kAll, kLongest, kOneOf };
  Kind kind = Kind::kAll;
  Think think = {};
  double weight = 1;  // as a part of kOneOf
  double rounds = 1;  // that `repeat` makes of it
  std::vector<Pause> parts = {};

  // Whether it can take any time.
  bool any() const;
};

base::Duration length_of(const Think& think, base::Random& random);
// What is made several times is drawn once. Never more than a year.
base::Duration length_of(const Pause& pause, base::Random& random, double rounds = 1);

}  // namespace muster::engine
