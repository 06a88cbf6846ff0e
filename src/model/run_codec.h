// The binary form of a whole run's result, for files and databases: a version, then the fields in order, each workflow
// as in model/result_codec.h. Equal results have equal bytes. Decoding trusts nothing: limits are in model/options.h,
// and what could not have come from encoding is refused.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "model/result.h"

namespace muster::model {

constexpr std::uint8_t kRunVersion = 1;

// Appends to `out`. What workflows provided to each other is left out: such values are often tokens, and nobody who
// reads a finished result needs them. So is the id, which belongs to whoever keeps the result.
void encode(const RunResult& run, std::string& out);

// All of `bytes` must be one run.
base::Expected<RunResult> decode_run_result(std::string_view bytes);

}  // namespace muster::model
