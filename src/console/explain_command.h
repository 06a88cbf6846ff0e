// `muster explain`: what a run would do, without doing it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "console/command.h"
#include "console/job_source.h"

namespace muster::console {

struct ExplainFlags {
  JobFlags job;
  std::uint32_t cores = 0;  // 0: the machine's physical cores
  std::size_t bytes = 400;  // of each request that are shown
  bool json = false;
};

// Exit code 0, or 2 with all problems found. `color` is what --color says.
int explain(const ExplainFlags& flags, const engine::Registry& registry, const std::string& color);

void add_explain(CLI::App& app, CommandContext& context);

}  // namespace muster::console
