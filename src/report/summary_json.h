// The summary of a run as JSON for scripts: versioned, described by docs/summary.md and docs/summary.schema.json.
// Pure. Adding a member keeps the version; removing one or changing its meaning makes a new one.
#pragma once

#include <string>
#include <string_view>

#include "model/result.h"
#include "report/comparison.h"

namespace muster::report {

constexpr std::string_view kSummarySchema = "muster.summary/1";

// Indented, with a final newline. Bytes that are no UTF-8 (a server's answer, say) become U+FFFD.
std::string summary_json(const model::RunResult& run, const Comparison* comparison = nullptr);

// The same document on one line, without a line end.
std::string summary_json_line(const model::RunResult& run, const Comparison* comparison = nullptr);

}  // namespace muster::report
