#include "model/threshold_reach.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace muster::model {
namespace {

using Part = ThresholdMisfit::Part;

constexpr MetricReach kOfRequests{.steps = true, .run_tags = true, .seconds = true};
constexpr MetricReach kOfSteps{.steps = true, .run_tags = false, .seconds = false};
constexpr MetricReach kOfIterations{.steps = false, .run_tags = false, .seconds = true};
constexpr MetricReach kOfWorkflows{};

constexpr std::array<std::pair<std::string_view, MetricReach>, 9> kReaches{{{"latency", kOfRequests},
                                                                            {"failed", kOfRequests},
                                                                            {"requests", kOfRequests},
                                                                            {"service", kOfSteps},
                                                                            {"checks", kOfSteps},
                                                                            {"iterations", kOfIterations},
                                                                            {"dropped", kOfIterations},
                                                                            {"failed_iterations", kOfWorkflows},
                                                                            {"lateness", kOfWorkflows}}};

}  // namespace

MetricReach reach_of(std::string_view metric) {
  for (const auto& [name, reach] : kReaches) {
    if (name == metric) return reach;
  }
  return kOfWorkflows;
}

bool is_share(std::string_view metric, std::string_view aggregate) {
  constexpr std::array<std::string_view, 4> kShared{"failed", "failed_iterations", "dropped", "checks"};
  return aggregate == "rate" && std::ranges::find(kShared, metric) != kShared.end();
}

std::optional<ThresholdMisfit> misfit(const Threshold& threshold,
                                      const std::function<bool(std::string_view)>& holds_holes) {
  const MetricReach reach = reach_of(threshold.metric);
  for (std::size_t i = 0; i != threshold.where.size(); ++i) {
    const std::string& key = threshold.where[i].first;
    if (key == "workflow") continue;
    if (!reach.steps) {
      return ThresholdMisfit{
          Part::kWhere, i,
          fmt::format("{} is counted per workflow, not per step or tag; use 'where: {{ workflow: … }}', or leave "
                      "'where' out",
                      threshold.metric)};
    }
    if (key == "step" || reach.run_tags || !holds_holes || !holds_holes(key)) continue;
    return ThresholdMisfit{
        Part::kWhere, i,
        fmt::format("the tag '{}' holds ${{…}}: of such requests latency, failed and requests are kept, {} is not; use "
                    "'where: {{ step: … }}', or a tag of fixed text",
                    key, threshold.metric)};
  }
  if (!threshold.window) return std::nullopt;
  if (!reach.seconds) {
    return ThresholdMisfit{Part::kWindow, 0,
                           fmt::format("{} is not kept per second, so it cannot be judged over a window; leave "
                                       "'window' out (latency, failed, requests, iterations and dropped can have one)",
                                       threshold.metric)};
  }
  for (const auto& [key, value] : threshold.where) {
    if (key == "workflow" || key == "step" || !holds_holes || !holds_holes(key)) continue;
    return ThresholdMisfit{Part::kWindow, 0,
                           fmt::format("the tag '{}' holds ${{…}}: such requests are kept for the whole run, not per "
                                       "second; leave 'window' out, or use a tag of fixed text",
                                       key)};
  }
  return std::nullopt;
}

}  // namespace muster::model
