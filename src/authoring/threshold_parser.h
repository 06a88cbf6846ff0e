// Thresholds as people write them: "latency p95 < 300ms", "failed rate < 1%", "requests rate > 100/s". Read with the
// tokenizer of the expression language; made once, before the run.
#pragma once

#include <expected>
#include <string_view>

#include "authoring/expression.h"
#include "model/job.h"

namespace muster::authoring {

// Fills text, metric, aggregate, comparison and bound; the rest of the Threshold keeps its defaults.
// Metrics: latency, service, lateness (times: min mean std max pNN); failed, requests, iterations, dropped
// (count rate); checks (rate count failed); any other name is a metric of the user's own
// (count rate value min mean std max pNN). The bound of a time needs a unit; that of a rate per second may be written
// 100/s; that of a share (failed rate, checks rate) is 1% or 0.01.
std::expected<model::Threshold, ExpressionError> parse_threshold(std::string_view text);

}  // namespace muster::authoring
