// The binary form of histograms, for snapshots, messages between nodes and files: a version, the layout, exact totals,
// then each used bucket as the gap to the one before it and its count. About three bytes per used bucket.
// Equal histograms have equal bytes; decoding is lossless and refuses whatever cannot have come from encoding.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "metrics/histogram.h"
#include "metrics/wire.h"

namespace muster::metrics {

constexpr std::uint8_t kHistogramVersion = 1;

// Appends to `out`.
template <unsigned SubBits>
void encode(const BasicHistogram<SubBits>& histogram, std::string& out);

// All of `bytes` must be one histogram of this layout.
template <unsigned SubBits>
base::Expected<BasicHistogram<SubBits>> decode(std::string_view bytes);

// The same as part of a larger message; the result is empty if the reader fails.
template <unsigned SubBits>
void write(Writer& writer, const BasicHistogram<SubBits>& histogram);
template <unsigned SubBits>
BasicHistogram<SubBits> read_histogram(Reader& reader);

}  // namespace muster::metrics
