#include "metrics/difference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>

namespace muster::metrics {
namespace {

constexpr double kNormal95 = 1.959963984540054;

// Student's t as the normal deviate of the same probability, and back: Wallace's approximation (1959), good to three
// digits from three degrees of freedom on, and exactly invertible, so that intervals and probabilities agree.
double normal_of(double t, double freedom) {
  const double factor = (8 * freedom + 1) / (8 * freedom + 3);
  return factor * std::sqrt(freedom * std::log1p(t * t / freedom));
}

double student_of(double normal, double freedom) {
  const double z = normal * (8 * freedom + 3) / (8 * freedom + 1);
  return std::sqrt(freedom * std::expm1(z * z / freedom));
}

struct Judged {
  double margin = 0;  // half of the 95 % interval
  double p = 1;
};

Judged judge(double distance, double error_before, double freedom_before, double error_after, double freedom_after,
             double extra_variance) {
  const double a = error_before * error_before;
  const double b = error_after * error_after;
  const double variance = a + b + extra_variance;
  if (!(variance > 0)) return {0, distance == 0 ? 1.0 : 0.0};
  // What is known beforehand (`extra_variance`) has no uncertainty of its own.
  const double uncertain = a * a / std::max(freedom_before, 1.0) + b * b / std::max(freedom_after, 1.0);
  constexpr double kAsGoodAsNormal = 1e6;
  const double freedom =
      uncertain > 0 ? std::clamp(variance * variance / uncertain, 1.0, kAsGoodAsNormal) : kAsGoodAsNormal;
  const double error = std::sqrt(variance);
  return {student_of(kNormal95, freedom) * error,
          std::erfc(normal_of(distance / error, freedom) / std::numbers::sqrt2)};
}

std::vector<std::size_t> ascending(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return p[a] != p[b] ? p[a] < p[b] : a < b; });
  return order;
}

}  // namespace

Difference relative_difference(const Estimate& before, double freedom_before, const Estimate& after,
                               double freedom_after, double between) {
  const double distance = std::log(after.value / before.value);
  const Judged judged =
      judge(distance, before.error, freedom_before, after.error, freedom_after, 2 * between * between);
  return {std::expm1(distance), std::expm1(distance - judged.margin), std::expm1(distance + judged.margin), judged.p};
}

Difference absolute_difference(const Estimate& before, double freedom_before, const Estimate& after,
                               double freedom_after) {
  const double distance = after.value - before.value;
  const Judged judged = judge(distance, before.error, freedom_before, after.error, freedom_after, 0);
  return {distance, distance - judged.margin, distance + judged.margin, judged.p};
}

std::vector<bool> holm(std::span<const double> p, double alpha) {
  std::vector<bool> yes(p.size(), false);
  std::size_t left = p.size();
  for (const std::size_t i : ascending(p)) {
    if (!(p[i] * static_cast<double>(left) <= alpha)) break;
    yes[i] = true;
    --left;
  }
  return yes;
}

std::vector<bool> benjamini_hochberg(std::span<const double> p, double alpha) {
  std::vector<bool> yes(p.size(), false);
  const std::vector<std::size_t> order = ascending(p);
  std::size_t accepted = 0;
  for (std::size_t rank = 1; rank <= order.size(); ++rank) {
    const double bound = alpha * static_cast<double>(rank) / static_cast<double>(order.size());
    if (p[order[rank - 1]] <= bound) accepted = rank;
  }
  for (std::size_t rank = 0; rank != accepted; ++rank) yes[order[rank]] = true;
  return yes;
}

}  // namespace muster::metrics
