// `--ui full`: the live screen. Draws a few times a second, and sooner after a key; a terminal that is slow, hung up or
// used by somebody else costs frames, never the run's time.
#pragma once

#include <memory>

#include "base/error.h"
#include "console/progress_view.h"
#include "console/screen/run_plan.h"

namespace muster::console {

struct Look {
  bool unicode = true;  // false: ASCII only
  bool colour = true;
};

// An error if there is no terminal to draw on.
base::Expected<std::unique_ptr<ProgressView>> make_full_view(const RunPlan& plan, const Look& look);

}  // namespace muster::console
