// A run as one HTML file that needs nothing else: verdict first, charts over time, tables, errors with examples, the
// configuration and, where there is one, the comparison with an earlier run. A content security policy in the file
// forbids every request. Without scripts the verdict and all tables remain. Pure; see docs/report.md.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/result.h"
#include "report/comparison.h"
#include "report/output.h"

namespace muster::report {

// `host` are facts about the machine that ran it, as label and text; they stand under "Environment".
std::string html_report(const RunInfo& info, const model::RunResult& result, const Comparison* comparison = nullptr,
                        const std::vector<std::pair<std::string, std::string>>& host = {});

}  // namespace muster::report
