#include "engine/pause.h"

#include <algorithm>

namespace muster::engine {
namespace {

constexpr double kMostNanoseconds = 365.0 * 86'400e9;

double nanoseconds(const Pause& pause, base::Random& random);

double one_of(const std::vector<Pause>& parts, base::Random& random) {
  double sum = 0;
  for (const Pause& each : parts) sum += each.weight;
  double drawn = random.unit() * sum;
  for (const Pause& each : parts) {
    if (drawn < each.weight) return nanoseconds(each, random);
    drawn -= each.weight;
  }
  return parts.empty() ? 0 : nanoseconds(parts.back(), random);
}

double once(const Pause& pause, base::Random& random) {
  if (pause.kind == Pause::Kind::kThink) return static_cast<double>(length_of(pause.think, random).count());
  if (pause.kind == Pause::Kind::kOneOf) return one_of(pause.parts, random);
  double made = 0;
  for (const Pause& each : pause.parts) {
    const double part = nanoseconds(each, random);
    made = pause.kind == Pause::Kind::kAll ? made + part : std::max(made, part);
  }
  return made;
}

double nanoseconds(const Pause& pause, base::Random& random) {
  return pause.rounds * once(pause, random);
}

}  // namespace

bool Pause::any() const {
  if (kind == Kind::kThink) return think.most > base::Duration::zero();
  return rounds > 0 && std::ranges::any_of(parts, &Pause::any);
}

base::Duration length_of(const Think& think, base::Random& random) {
  const auto spread = static_cast<std::uint64_t>((think.most - think.least).count());
  return think.least + base::Duration(spread == 0 ? 0 : static_cast<std::int64_t>(random.below(spread + 1)));
}

base::Duration length_of(const Pause& pause, base::Random& random, double rounds) {
  return base::Duration(static_cast<std::int64_t>(std::min(rounds * nanoseconds(pause, random), kMostNanoseconds)));
}

}  // namespace muster::engine
