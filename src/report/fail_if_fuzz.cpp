// Whatever a user types after --fail-if is read or refused. What is read is complete, can be written down and read
// again, and fires on a change beyond its limit and on no other.
// covers: report/fail_if.cpp
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

#include "base/fuzzing.h"
#include "report/fail_if.h"

namespace muster::report {
namespace {

using base::require;

std::string in_quotes(std::string_view name) {
  std::string quoted;
  for (const char c : name) quoted += c == '\'' ? std::string("\"'\"") : fmt::format("'{}'", c);
  return quoted;
}

// Its parts in another order, with more blanks, and all names in quotes.
std::string written_again(const FailIf& condition) {
  std::string change = fmt::format("{:.17e}", std::abs(condition.limit));
  if (condition.relative || condition.metric == "failed") {
    change = fmt::format("{:.17e}%", std::abs(condition.limit) * 100);
  } else if (condition.metric != "rate") {
    change = fmt::format("{:.0f}ns", std::abs(condition.limit) * 1e9);
  }
  std::string text = fmt::format("\t{}  {}{} ", condition.metric, condition.limit < 0 ? '-' : '+', change);
  if (!condition.step.empty()) text += fmt::format(" step={}", in_quotes(condition.step));
  if (!condition.workflow.empty()) text += fmt::format(" workflow={}", in_quotes(condition.workflow));
  return text;
}

void require_complete(const FailIf& condition, std::string_view text) {
  require(condition.text == text && !condition.metric.empty() && condition.metric != "p999");
  require(std::isfinite(condition.limit) && !(condition.limit == 0 && std::signbit(condition.limit)));
  require(condition.workflow.empty() || !condition.step.empty());
  const std::string again = written_again(condition);
  const auto read = parse_fail_if(again);
  if (!read) {
    // Quotes may make it too long.
    require(again.size() > kMaxConditionBytes);
    return;
  }
  require(read->metric == condition.metric && read->step == condition.step && read->workflow == condition.workflow);
  require(read->relative == condition.relative && (read->limit < 0) == (condition.limit < 0));
  require(std::abs(read->limit - condition.limit) <= std::abs(condition.limit) * 1e-9 + 1e-9);
}

// `change` in the unit of the condition.
bool fires(const FailIf& condition, double change) {
  Comparison comparison;
  Delta other;
  other.metric = condition.metric;
  other.step = condition.step + "x";
  comparison.deltas.push_back(other);
  Delta delta;
  delta.metric = condition.metric;
  delta.workflow = condition.workflow;
  delta.step = condition.step;
  delta.unit = condition.metric == "rate"     ? DeltaUnit::kPerSecond
               : condition.metric == "failed" ? DeltaUnit::kShare
                                              : DeltaUnit::kSeconds;
  delta.relative = condition.metric != "failed";
  delta.before = 1;
  delta.after = 1 + change;
  delta.change = change;
  delta.judged = true;
  delta.p = 0;
  comparison.deltas.push_back(delta);
  judge_conditions(comparison, {condition});
  require(comparison.conditions.size() == 1 && !comparison.conditions[0].sentence.empty());
  require(comparison.conditions[0].judged && comparison.conditions[0].text == condition.text);
  return comparison.conditions[0].fired;
}

void require_limit(const FailIf& condition) {
  // What is smaller counts as no change at all, what is larger is lost where the change is added.
  const double size = std::abs(condition.limit);
  if (size > 1e9) return;
  const double sign = condition.limit < 0 ? -1 : 1;
  require(fires(condition, sign * (size * 2 + 0.05)));
  require(!fires(condition, sign * size / 2) || (sign < 0 && size < 1e-200));
  require(!fires(condition, -sign * (size * 2 + 0.05)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = base::text_of(data, size);
  const auto condition = parse_fail_if(text);
  if (!condition) {
    require(condition.error().message.starts_with("--fail-if"));
    return 0;
  }
  require_complete(*condition, text);
  require_limit(*condition);
  // A step that neither run has is told.
  Comparison nothing;
  judge_conditions(nothing, {*condition});
  require(nothing.conditions.size() == 1 && !nothing.conditions[0].judged && !nothing.conditions[0].fired);
  require(!nothing.conditions[0].sentence.empty());
  return 0;
}

}  // namespace muster::report
