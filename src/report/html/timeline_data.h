// What the charts of the HTML report are drawn from: for the whole run, each workflow and each step a series over time,
// a heat map of time and latency, and the distribution of latency, thinned out to what a screen can show. Percentiles
// of a point come from the merged histograms of its seconds. Pure; memory does not grow with the length of the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/result.h"

namespace muster::report::html {

// What the user can choose to look at.
struct Scope {
  enum class Kind : std::uint8_t { kRun, kWorkflow, kStep };

  Kind kind = Kind::kRun;
  std::string name;
  std::size_t workflow = 0;  // index in the result; workflows and steps only
  std::size_t step = 0;      // index in that workflow; steps only
  double from = 0;           // counted time in seconds since the run's start
  double until = 0;
  bool open = false;             // latency counts from the intended start
  std::uint64_t width = 1;       // seconds of one point
  std::size_t points = 0;        // from the begin of the timeline
  std::uint64_t heat_width = 1;  // seconds of one column, a multiple of `width`
  std::size_t heat_columns = 0;

  // Varints (LEB128), in this order:
  // - the columns requests, failed, p50, p95, p99, max and, but for steps, vus and dropped: for each point the
  // difference
  //   to the point before, zigzag. Latencies are buckets of the coarse layout plus 1; 0 is no sample.
  // - the heat map: for each column the number of used rows, then for each of them the gap to the one after the row
  //   before, and its count. Row i holds 2^(i/4) ns to 2^((i+1)/4) ns.
  // - the distribution of latency in buckets of the coarse layout: number of used ones, then gap and count of each.
  // - the same of the service time (open load only, else 0).
  std::string bytes;
};

struct TimelineData {
  std::uint64_t begin = 0;  // seconds since the run's start
  std::uint64_t end = 1;    // above `begin`
  std::vector<Scope> scopes;
  std::size_t steps_left_out = 0;  // that had requests, but are beyond kMaxChartedSteps

  // Where in `scopes` a step stands, if it does.
  std::optional<std::size_t> find(std::size_t workflow, std::size_t step) const;
  std::optional<std::size_t> find(std::size_t workflow) const;
};

TimelineData timeline_data(const model::RunResult& run);

// As JSON that may stand in a <script> element: no '<' in it. Holds also the times at which thresholds failed.
std::string timeline_json(const TimelineData& data, const model::RunResult& run);

// Steps that the report shows: those that make requests, and others that took time of their own or failed.
bool shown(const model::StepResult& step);

}  // namespace muster::report::html
