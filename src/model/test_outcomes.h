// What became of the calls that test something, over all such steps of a workflow or of several. Pure.
#pragma once

#include <array>
#include <cstdint>

#include "model/result.h"

namespace muster::model {

struct TestOutcomes {
  bool any_step = false;
  std::uint64_t ok = 0;
  std::uint64_t failed = 0;
  std::array<std::uint64_t, kErrorClasses> errors{};

  // There was work, and nothing of it succeeded.
  bool all_failed() const { return ok == 0 && failed > 0; }

  void add(const WorkflowResult& workflow) {
    for (const StepResult& step : workflow.steps) {
      if (step.role != StepRole::kTest) continue;
      any_step = true;
      ok += step.ok;
      failed += step.failed;
      for (std::size_t i = 0; i != errors.size(); ++i) errors[i] += step.errors[i];
    }
  }
};

}  // namespace muster::model
