// `--out junit=FILE`: the run as JUnit XML for the test view of a CI system, written once at the end, whole or not at
// all: the verdict and the thresholds as one suite, and one suite for each workflow with its end and its checks.
#pragma once

#include <string>

#include "model/result.h"
#include "report/output.h"

namespace muster::report {

OutputKind junit_output();

// Pure. Well-formed XML 1.0 whatever bytes names, labels and reasons hold.
std::string junit_xml(const model::RunResult& run);

}  // namespace muster::report
