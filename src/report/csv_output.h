// `--out csv=FILE`: what happened in each second, workflow and step, as CSV lines written while the run goes on.
#pragma once

#include "report/output.h"

namespace muster::report {

OutputKind csv_output();

}  // namespace muster::report
