// `--out run=FILE`: the whole result as muster keeps it, to be compared with later: --baseline FILE. For pipelines
// whose machines keep nothing themselves.
#pragma once

#include "report/output.h"

namespace muster::report {

OutputKind run_output();

}  // namespace muster::report
