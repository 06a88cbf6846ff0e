// A comparison as text for a terminal: what it was compared with, the verdict, a table of changes, what became of
// --fail-if, and what limits it. Never wider than asked for. Pure.
#pragma once

#include <string>

#include "report/comparison.h"
#include "report/summary.h"

namespace muster::report {

std::string comparison_text(const Comparison& comparison, const SummaryOptions& options = {});

}  // namespace muster::report
