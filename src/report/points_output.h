// The outputs that tell a run second by second while it goes on: they differ in how a point is written and where the
// lines go. Never waits for the far end while the run goes on.
#pragma once

#include <memory>

#include "report/line_target.h"
#include "report/output.h"
#include "report/point_format.h"

namespace muster::report {

std::unique_ptr<Output> points_output(std::unique_ptr<PointFormat> format, std::unique_ptr<LineTarget> target);

}  // namespace muster::report
