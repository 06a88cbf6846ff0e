// Encodes a snapshot so that it fits where it is published: one that is too large would not be there at all. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "model/result.h"

namespace muster::engine {

// Puts the encoding of `totals` into `bytes`. If it takes more than `limit` bytes, parts are left out, those that are
// missed least first, until it fits, and a note in the snapshot says which. False if even the counts alone do not fit.
bool encode_to_fit(const model::WorkflowResult& totals, std::size_t limit, std::string& bytes);

}  // namespace muster::engine
