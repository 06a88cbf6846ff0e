// A made-up run for the tests of the live screen: two workflows, the second after the first, with errors, checks and
// thresholds from a chosen second on. Asked for a time, it gives the snapshot of that time.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "console/screen/run_plan.h"
#include "console/screen/run_watch.h"
#include "model/result.h"

namespace muster::console::test {

struct Story {
  bool several = false;           // a login workflow before the shop
  std::uint32_t trouble = 1'000;  // from this second on requests fail and are slow
  bool thresholds = true;

  RunPlan plan() const;
  model::RunResult at(std::uint32_t second) const;
  // A watch that has seen every second up to this one.
  RunWatch watched(std::uint32_t second) const;
};

}  // namespace muster::console::test
