#include "report/comparison_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/json_figures.h"
#include "report/rfc3339.h"

namespace muster::report {
namespace {

using Json = nlohmann::ordered_json;

Json run_json(const RunIdentity& run) {
  Json made = {{"id", run.id},
               {"job", run.job},
               {"version", run.version},
               {"started", rfc3339(run.started)},
               {"duration_s", base::seconds(run.elapsed)},
               {"verdict", model::to_text(run.verdict)},
               {"requests", run.requests}};
  made["labels"] = Json::object();
  for (const auto& [name, value] : run.labels) made["labels"][name] = value;
  return made;
}

std::string_view unit_text(DeltaUnit unit) {
  switch (unit) {
    case DeltaUnit::kSeconds:
      return "us";
    case DeltaUnit::kPerSecond:
      return "per_second";
    case DeltaUnit::kShare:
      return "share";
  }
  return "us";
}

// Times in microseconds, as everywhere in the summary.
double shown(const Delta& delta, double value) {
  if (delta.unit != DeltaUnit::kSeconds) return finite_or_zero(value);
  return std::round(finite_or_zero(value) * 1e9) / 1e3;
}

Json delta_json(const Delta& delta) {
  Json made = {{"metric", delta.metric},
               {"workflow", delta.workflow},
               {"step", delta.step},
               {"unit", unit_text(delta.unit)},
               {"before", shown(delta, delta.before)},
               {"after", shown(delta, delta.after)},
               {"relative", delta.relative},
               {"change", finite_or_zero(delta.change)}};
  if (delta.judged) {
    made["low"] = finite_or_zero(delta.low);
    made["high"] = finite_or_zero(delta.high);
    made["p"] = finite_or_zero(delta.p);
  }
  made["judged"] = delta.judged;
  made["significant"] = delta.significant;
  made["worse"] = delta.worse;
  made["headline"] = delta.headline;
  made["rare"] = delta.rare;
  return made;
}

}  // namespace

std::string comparison_json(const Comparison& comparison) {
  Json made = {{"verdict", to_text(comparison.verdict)},      {"sentence", comparison.sentence},
               {"before", run_json(comparison.before)},       {"after", run_json(comparison.after)},
               {"seconds_before", comparison.seconds_before}, {"seconds_after", comparison.seconds_after}};
  for (const char* list : {"deltas", "conditions", "notes"}) made[list] = Json::array();
  for (const Delta& delta : comparison.deltas) made["deltas"].push_back(delta_json(delta));
  for (const ConditionVerdict& each : comparison.conditions) {
    made["conditions"].push_back(
        {{"text", each.text}, {"judged", each.judged}, {"fired", each.fired}, {"sentence", each.sentence}});
  }
  for (const std::string& note : comparison.notes) made["notes"].push_back(note);
  return made.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace muster::report
