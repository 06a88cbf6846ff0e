#include "engine/split.h"

#include <algorithm>

namespace muster::engine {
namespace {

// How many of the numbers 0 … total-1 are dealt to `position` when dealt out one by one in turn.
std::uint64_t dealt(std::uint64_t total, std::uint32_t position, std::uint32_t positions) {
  return total / positions + (position < total % positions ? 1 : 0);
}

}  // namespace

std::vector<std::uint64_t> shares(std::uint64_t total, std::uint32_t parts) {
  if (parts == 0) return {};
  if (total < parts) {
    std::vector<std::uint64_t> made(parts, 0);
    std::fill_n(made.begin(), total, 1);
    return made;
  }
  std::vector<std::uint64_t> made(parts, total / parts);
  made.back() += total % parts;
  return made;
}

std::vector<Slice> split(std::uint64_t vus, std::uint64_t iterations, std::uint32_t cores) {
  const auto used = static_cast<std::uint32_t>(std::min<std::uint64_t>(vus, cores));
  const auto vu_shares = shares(vus, used);
  const auto iteration_shares = shares(iterations, used);
  std::vector<Slice> slices;
  slices.reserve(used);
  std::uint64_t first = 0;
  for (std::uint32_t core = 0; core < used; ++core) {
    slices.push_back({core, used, first, vu_shares[core], iteration_shares[core]});
    first += vu_shares[core];
  }
  return slices;
}

std::uint64_t active_vus(const Slice& slice, std::uint64_t peak, std::uint64_t wanted) {
  // Dealt in turn while all cores have the same to give; the remainder that only the last one holds comes after.
  const std::uint64_t even = peak / slice.cores * slice.cores;
  if (wanted <= even) return dealt(wanted, slice.core, slice.cores);
  const std::uint64_t base = even / slice.cores;
  const bool last = slice.core + 1 == slice.cores;
  if (wanted <= peak) return base + (last ? wanted - even : 0);
  return base + (last ? peak - even : 0) + dealt(wanted - peak, slice.core, slice.cores);
}

RowRange unique_rows(std::uint64_t rows, const Slice& slice) {
  const auto row_shares = shares(rows, slice.cores);
  RowRange range;
  for (std::uint32_t core = 0; core < slice.core; ++core) range.first += row_shares[core];
  range.count = row_shares[slice.core];
  return range;
}

}  // namespace muster::engine
