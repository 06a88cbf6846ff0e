// Whatever decodes must encode to the very bytes it came from, and every statistic of it must be in bounds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "metrics/histogram_codec.h"

namespace muster::metrics {
namespace {

template <unsigned SubBits>
void round_trip(std::string_view input) {
  auto decoded = decode<SubBits>(input);
  if (!decoded) return;
  std::string again;
  encode(*decoded, again);
  if (again != input) std::abort();
  for (const double q : {0.0, 0.5, 0.99, 1.0}) {
    if (decoded->quantile(q) < decoded->min() || decoded->quantile(q) > decoded->max()) std::abort();
  }
  if (decoded->mean() < decoded->min() || decoded->mean() > decoded->max()) std::abort();
  if (decoded->stddev().count() < 0 || decoded->count_above(decoded->max()) != 0) std::abort();
  BasicHistogram<SubBits> doubled = *decoded;
  doubled.merge(*decoded);
  if (doubled.count() != 2 * decoded->count()) std::abort();
}

}  // namespace
}  // namespace muster::metrics

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  muster::metrics::round_trip<9>(input);
  muster::metrics::round_trip<6>(input);
  return 0;
}
