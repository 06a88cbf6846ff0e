// How one workflow's VUs, iterations and data rows are divided over the cores that run it. Pure functions; the same
// input gives the same split on every node, so that no two cores ever run the same VU or take the same unique row.
#pragma once

#include <cstdint>
#include <vector>

namespace muster::engine {

// `total` over `parts`: total / parts each, the remainder to the last (2000 over 6: 333 × 5, 335). Fewer than parts:
// one each for the first `total`, then zeros. Always `parts` numbers, none if parts is 0.
std::vector<std::uint64_t> shares(std::uint64_t total, std::uint32_t parts);

// What one core runs of a workflow.
struct Slice {
  std::uint32_t core = 0;  // position among the cores of this workflow, from 0
  std::uint32_t cores = 1;
  std::uint64_t first_vu = 0;    // VUs are numbered from 0 over the whole workflow
  std::uint64_t vus = 0;         // at the peak; open shapes: its share of max_vus
  std::uint64_t iterations = 0;  // its share of shared iterations
};

// One slice per core that has something to do: as many as there are cores, or VUs if those are fewer.
std::vector<Slice> split(std::uint64_t vus, std::uint64_t iterations, std::uint32_t cores);

// How many of this core's VUs run while the whole workflow wants `wanted` of its `peak`. Grows evenly over the cores,
// reaches slice.vus at the peak and never falls while `wanted` grows; beyond the peak (a job scaled up) every core goes
// on growing evenly. Over all slices the sum is `wanted`.
std::uint64_t active_vus(const Slice& slice, std::uint64_t peak, std::uint64_t wanted);

struct RowRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

// The rows of a `pick: unique` source that belong to this core; the ranges of all cores are disjoint and cover `rows`.
RowRange unique_rows(std::uint64_t rows, const Slice& slice);

}  // namespace muster::engine
