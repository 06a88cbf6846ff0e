// `--out ndjson=FILE`: what happened in each second, workflow and step, as NDJSON lines written while the run goes on.
#pragma once

#include "report/output.h"

namespace muster::report {

OutputKind ndjson_output();

}  // namespace muster::report
