// The parts of the HTML report, in the order of the page. Each writes one section with its heading, or nothing where
// there is nothing to tell. They work without scripts; scripts add sorting and charts. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/result.h"
#include "report/comparison.h"
#include "report/html/markup.h"
#include "report/html/timeline_data.h"
#include "report/output.h"
#include "report/totals.h"

namespace muster::report::html {

using HostFacts = std::vector<std::pair<std::string, std::string>>;

// overview.cpp
void put_verdict(Markup& page, const model::RunResult& run, const Comparison* comparison);
void put_marks(Markup& page, const model::RunResult& run);
void put_figures(Markup& page, const model::RunResult& run, const Totals& sum);
void put_thresholds(Markup& page, const model::RunResult& run);

// changes.cpp
void put_comparison(Markup& page, const Comparison& comparison);

// tables.cpp
void put_workflows(Markup& page, const model::RunResult& run, const TimelineData& data);
void put_steps(Markup& page, const model::RunResult& run, const TimelineData& data);
void put_phases(Markup& page, const model::RunResult& run);
void put_tagged(Markup& page, const model::RunResult& run);

// findings.cpp
void put_checks(Markup& page, const model::RunResult& run);
void put_errors(Markup& page, const model::RunResult& run, const Totals& sum);
void put_metrics(Markup& page, const model::RunResult& run);
void put_notes(Markup& page, const model::RunResult& run);
void put_environment(Markup& page, const RunInfo& info, const model::RunResult& run, const HostFacts& host);
void put_source(Markup& page, const RunInfo& info);

// cells.cpp: what several sections write alike.
void put_section(Markup& page, std::string_view id, std::string_view title, std::string_view about = {});
void end_section(Markup& page);
// A table that scrolls inside itself and can be sorted; `columns` are headings, those that begin with '#' of numbers.
void put_table(Markup& page, std::string_view label, const std::vector<std::string_view>& columns);
void end_table(Markup& page, std::size_t rows_left_out = 0);
// A cell with the number that it is sorted by.
void put_cell(Markup& page, double number, std::string_view text, std::string_view kind = {});
void put_time(Markup& page, base::Duration time);
void put_count(Markup& page, std::uint64_t count);
void put_failed(Markup& page, std::uint64_t failed, std::uint64_t all);
// p50, p95, p99 and max; dashes without samples.
template <class Histogram>
void put_quantiles(Markup& page, const Histogram& histogram) {
  for (const double q : {0.5, 0.95, 0.99, 1.0}) {
    if (histogram.empty()) {
      put_cell(page, -1, "–");
    } else {
      put_time(page, histogram.quantile(q));
    }
  }
}
std::string plural(std::uint64_t count, std::string_view one);
std::string utc_time(base::Duration since_1970);  // 2026-11-15 12:30:00 UTC

}  // namespace muster::report::html
