// The live screen of a run as a frame: title, workflows, progress, figures, latency plot, thresholds, errors, checks,
// keys. A pure function of what was measured, what the user chose and the terminal's size; no size is too small.
#pragma once

#include <string>
#include <vector>

#include "console/screen/frame.h"
#include "console/screen/run_watch.h"
#include "model/result.h"

namespace muster::console {

struct ScreenState {
  std::size_t view = 0;  // of the RunWatch
  bool pinned = false;   // the views do not take turns
  bool help = false;
  bool paused = false;
  bool stopping = false;
  double factor = 1.0;                 // of the load
  std::string message = {};            // in place of the line of keys; empty: none
  std::vector<std::string> said = {};  // the latest lines of standard error
  std::vector<model::Mark> marks = {};
};

// `snapshot` is the one that `watch` observed last.
Frame render(const RunWatch& watch, const model::RunResult& snapshot, const ScreenState& state, Size size,
             bool unicode);

}  // namespace muster::console
