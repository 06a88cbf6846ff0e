// Made-up results for the tests of this room: one of each kind that a summary must tell well.
#pragma once

#include "model/result.h"

namespace muster::report::test {

model::RunResult passed();   // closed, one workflow, all well
model::RunResult marked();   // open, thresholds failed, errors, marks, notes, metrics
model::RunResult wide();     // several workflows, names and numbers at their worst
model::RunResult refused();  // every request failed
model::RunResult lost();     // the executor was lost
model::RunResult nothing();  // interrupted before it began

}  // namespace muster::report::test
