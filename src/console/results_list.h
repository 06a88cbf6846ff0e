// The list of kept runs, as a table that fits 80 columns and as JSON. Pure.
#pragma once

#include <string>
#include <vector>

#include "report/summary.h"
#include "store/run_record.h"

namespace muster::console {

// `zone` shifts times from UTC to those of the reader's clock.
std::string results_table(const std::vector<store::RunRecord>& runs, const report::SummaryOptions& options,
                          base::Duration zone);

std::string results_json(const std::vector<store::RunRecord>& runs);

}  // namespace muster::console
