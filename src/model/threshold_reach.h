// How far each metric of a threshold reaches: whether `where` can narrow it down to steps and tags, and whether it can
// be judged over a `window`. The one place that knows; the loader refuses what does not fit, the judge asks here too.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "model/job.h"

namespace muster::model {

struct MetricReach {
  bool steps = false;     // kept per step, and so for tags of fixed text
  bool run_tags = false;  // kept for tags that hold ${…}, over the whole run
  bool seconds = false;   // kept per second, and so for windows
};

// Of a metric of muster's own; any other name is a metric of the user's.
MetricReach reach_of(std::string_view metric);

// Whether that figure of a metric of muster's own is a share of a whole, which people write in percent.
bool is_share(std::string_view metric, std::string_view aggregate);

struct ThresholdMisfit {
  enum class Part : std::uint8_t { kWhere, kWindow };
  Part part = Part::kWhere;
  std::size_t condition = 0;  // kWhere: position in Threshold::where
  std::string message;        // what does not go together, and what to do instead
};

// Why such a threshold can never be judged; nothing if it can. `holds_holes` tells of a tag's name whether its value
// holds ${…} at a step that the threshold is about; empty: that is not known.
std::optional<ThresholdMisfit> misfit(const Threshold& threshold,
                                      const std::function<bool(std::string_view)>& holds_holes = {});

}  // namespace muster::model
