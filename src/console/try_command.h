// `muster try`: one iteration of one VU of each workflow, with every value resolved and the bytes on the wire.
#pragma once

#include <string>

#include "console/command.h"
#include "console/job_source.h"
#include "engine/engine.h"

namespace muster::console {

struct TryFlags {
  JobFlags job;
  std::string workflow;      // only this one; empty: all, in the order of their layers
  std::size_t bytes = 4096;  // of each request and response that are shown
  bool json = false;         // each step as one line of JSON
};

// Exit code 0 if every step succeeded, 99 if one failed or those that make a request were not reached, 2 for bad input,
// 130 if it was interrupted.
int try_once(const TryFlags& flags, const engine::Registry& registry);

void add_try(CLI::App& app, CommandContext& context);

}  // namespace muster::console
