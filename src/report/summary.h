// The summary at the end of a run, as text for a terminal: verdict first, then totals, steps, checks, thresholds,
// errors and what makes the numbers doubtful. Never wider than asked for, whatever the names and numbers. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "model/result.h"

namespace muster::report {

struct SummaryOptions {
  bool colour = false;       // escape codes for colour
  bool unicode = true;       // false: ASCII only
  std::size_t columns = 80;  // 80 at least
  // Rows of each workflow's table and of the lists of checks and errors; more are counted, not shown.
  std::size_t most_rows = 40;
};

std::string summary(const model::RunResult& run, const SummaryOptions& options = {});

}  // namespace muster::report
