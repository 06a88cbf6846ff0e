// Whatever a user types after --fail-if is read or refused, and what is read can be judged.
// covers: report/fail_if.cpp
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "report/fail_if.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto condition = muster::report::parse_fail_if({reinterpret_cast<const char*>(data), size});
  if (!condition) {
    if (condition.error().message.empty()) std::abort();
    return 0;
  }
  muster::report::Comparison comparison;
  muster::report::Delta delta;
  delta.metric = condition->metric;
  delta.step = condition->step;
  delta.before = 1;
  delta.after = 2;
  delta.change = 1;
  delta.judged = true;
  delta.p = 0;
  comparison.deltas.push_back(delta);
  muster::report::judge_conditions(comparison, {*condition});
  if (comparison.conditions.size() != 1 || comparison.conditions[0].sentence.empty()) std::abort();
  return 0;
}
