// `--out json=FILE`: the versioned summary for scripts (summary_json.h), written once at the end, whole or not at all.
#pragma once

#include "report/output.h"

namespace muster::report {

OutputKind json_output();

}  // namespace muster::report
