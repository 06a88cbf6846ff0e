// The lower half of the summary: what was found about a run rather than how much of it there was – checks, metrics of
// the user's own, thresholds, errors, marks and notes. Sections with nothing to tell are left out.
#pragma once

#include <cstddef>

#include "model/result.h"
#include "report/page.h"

namespace muster::report {

void put_findings(Page& page, const model::RunResult& run, std::size_t most_rows);

}  // namespace muster::report
