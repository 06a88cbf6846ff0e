// The binary form of workflow results, for snapshots and messages: a version, then the fields in order, numbers as
// varints (metrics/wire.h), histograms as in metrics/histogram_codec.h. Equal results have equal bytes. Decoding trusts
// nothing: limits are in model/options.h, and what could not have come from encoding is refused.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "metrics/wire.h"
#include "model/result.h"

namespace muster::model {

// 2: users' metrics keep values of any size and sign and their spread, rows of tags their step. 3: whether the workflow
// is a script's. 4: how its seconds are shifted. Older ones are still read.
constexpr std::uint8_t kResultVersion = 4;

// Appends to `out`. Numbers that are not finite (a user's metric) become the nearest that are; NaN becomes 0.
// Texts that are longer than decoding takes are cut.
void encode(const WorkflowResult& result, std::string& out);

// All of `bytes` must be one result.
base::Expected<WorkflowResult> decode_workflow_result(std::string_view bytes);

// The same as part of a larger message; if the reader fails, what was read is not to be used.
void write(metrics::Writer& writer, const WorkflowResult& result);
WorkflowResult read_workflow_result(metrics::Reader& reader);

}  // namespace muster::model
