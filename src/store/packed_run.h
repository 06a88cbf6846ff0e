// A run's result as it lies in a database or a file: a mark, a version, its size, then the bytes of model/run_codec.h
// compressed by zlib. Unpacking trusts nothing: sizes are bounded before memory is spent, and what cannot have come
// from packing is refused. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "model/result.h"

namespace muster::store {

// A result that would be too large to read back is packed without the per-second series of its steps, and a note in its
// first workflow says so.
base::Expected<std::string> pack(const model::RunResult& run);

// `what` begins the message of an error: "the result of r-20261115-k3f8".
base::Expected<model::RunResult> unpack(std::string_view packed, std::string_view what);

// Whether `bytes` begin as packed results do.
bool looks_packed(std::string_view bytes);

}  // namespace muster::store
