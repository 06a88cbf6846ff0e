// `--out html=FILE`: the report for people (html_report.h), written once at the end, whole or not at all.
#pragma once

#include "report/output.h"

namespace muster::report {

OutputKind html_output();

}  // namespace muster::report
