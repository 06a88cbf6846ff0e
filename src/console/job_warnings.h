// What in a file is likely a slip though it is allowed, a sentence each: for `check`, `explain` and `run`. Pure.
#pragma once

#include <string>
#include <vector>

#include "model/job.h"

namespace muster::console {

std::vector<std::string> job_warnings(const model::Job& job);

// One of them that a run tells too, since its figures depend on it; empty if there is nothing to tell.
std::string datacenters_warning(const model::Job& job);

}  // namespace muster::console
