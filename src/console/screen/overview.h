// The parts of the live screen that are always there: title, workflows, progress, figures, percentiles, keys. Each
// draws itself into its area and takes what room there is. Pure.
#pragma once

#include <cstddef>

#include "base/time.h"
#include "console/screen/frame.h"
#include "console/screen/run_watch.h"
#include "console/screen/screen.h"
#include "model/result.h"

namespace muster::console {

void put_title(Frame& frame, const Area& area, const RunPlan& plan, base::Duration elapsed, bool unicode);
void put_tabs(Frame& frame, const Area& area, const RunWatch& watch, const model::RunResult& snapshot,
              const ScreenState& state, bool unicode);
void put_progress(Frame& frame, const Area& area, const ViewFigures& figures, const ScreenState& state, bool unicode);

// These return the rows that they used.
std::size_t put_facts(Frame& frame, const Area& area, const ViewFigures& figures, bool unicode);
std::size_t put_times(Frame& frame, const Area& area, const ViewFigures& figures, bool unicode);

// The line of keys, or the message.
void put_foot(Frame& frame, const Area& area, bool several, const ScreenState& state, bool unicode);
// Over the middle of everything.
void put_help(Frame& frame, bool unicode);

}  // namespace muster::console
