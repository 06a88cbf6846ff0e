// The descriptor of the `http` step: its fields, its target's options and what a response offers to checks and saves.
#pragma once

#include "model/step_kind.h"

namespace muster::model {

// Positions in http_kind().results, for the client that fills them.
enum class HttpResult : std::uint8_t { kStatus, kHeader, kCookie, kBody, kJson, kSize, kLatency };

// The shorthand's lower-case verb stands in `method` as written; the client sends it in upper case.
StepKind http_kind();

// What is wrong with a request or a target beyond the types of its fields (http_inspect.cpp).
void inspect_http_step(const Step& step, const Inspection& inspection);
void inspect_http_target(const Target& target, const Inspection& inspection);

}  // namespace muster::model
