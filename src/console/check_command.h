// `muster check`: says whether a file would run, without running it.
#pragma once

#include <string>

#include "authoring/loader.h"
#include "console/command.h"
#include "console/job_source.h"
#include "engine/engine.h"

namespace muster::console {

struct CheckFlags {
  JobFlags job;
  bool json = false;
};

// Exit code 0, or 2 with all problems found.
int check(const CheckFlags& flags, const engine::Registry& registry);

// The answer of --json where something is wrong.
std::string problems_json(const authoring::Problems& problems);

void add_check(CLI::App& app, CommandContext& context);

}  // namespace muster::console
