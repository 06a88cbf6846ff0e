// `--out command=CMD`: the NDJSON points (ndjson_output.h) on the standard input of a shell command that runs beside
// the run: the seam for whatever muster has no output for.
#pragma once

#include "report/output.h"

namespace muster::report {

OutputKind command_output();

}  // namespace muster::report
