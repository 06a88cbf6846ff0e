// Whether two figures differ by more than chance: intervals and probabilities from their standard errors (Student's t
// with Welch's degrees of freedom), and what to make of many such questions at once. Pure; see docs/adr/0014.
#pragma once

#include <span>
#include <vector>

#include "metrics/block_bootstrap.h"

namespace muster::metrics {

struct Difference {
  double change = 0;  // a fraction of the first figure, or a difference, as asked for
  double low = 0;     // 95 % interval of it
  double high = 0;
  double p = 1;  // how likely chance alone makes a change of this size or more, in either direction
};

// after / before - 1. Errors of the estimates are fractions. `between` is what two runs of the very same thing differ
// by beyond what their seconds tell, as a standard error of each. Both values must be above 0.
Difference relative_difference(const Estimate& before, double freedom_before, const Estimate& after,
                               double freedom_after, double between);

// after - before, with errors in the same unit.
Difference absolute_difference(const Estimate& before, double freedom_before, const Estimate& after,
                               double freedom_after);

// Which of several questions may be answered with yes so that, where nothing changed at all, one yes in `alpha` of the
// cases is the most (Holm 1979).
std::vector<bool> holm(std::span<const double> p, double alpha);

// The same so that of all answers with yes a share of `alpha` at most is expected to be wrong (Benjamini and Hochberg
// 1995): finds more where there are many questions.
std::vector<bool> benjamini_hochberg(std::span<const double> p, double alpha);

}  // namespace muster::metrics
