// What was recorded between two states of one cumulative histogram. Counts and sums are exact; the least and the
// largest value are exact if they were records, and otherwise as near as their buckets tell. Pure.
#pragma once

#include <optional>

#include "metrics/histogram.h"

namespace muster::metrics {

// Nothing if `later` cannot have grown out of `earlier`.
template <unsigned SubBits>
std::optional<BasicHistogram<SubBits>> since(const BasicHistogram<SubBits>& later,
                                             const BasicHistogram<SubBits>& earlier);

extern template std::optional<Histogram> since(const Histogram&, const Histogram&);
extern template std::optional<CoarseHistogram> since(const CoarseHistogram&, const CoarseHistogram&);

}  // namespace muster::metrics
