// A comparison as JSON for scripts: the member `comparison` of the summary, and the output of `muster results compare
// --json`. Described by docs/summary.md and docs/summary.schema.json. Pure.
#pragma once

#include <string>

#include "report/comparison.h"

namespace muster::report {

// One object, indented, with a final newline.
std::string comparison_json(const Comparison& comparison);

}  // namespace muster::report
