// `muster run`: runs a job on this machine, shows how it goes, and exits with its verdict.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "console/command.h"
#include "console/job_source.h"
#include "console/run_history.h"
#include "engine/engine.h"
#include "report/output.h"

namespace muster::console {

struct RunFlags {
  JobFlags job;
  std::uint32_t cores = 0;  // 0: the machine's physical cores
  std::string ui = "auto";  // auto, full, ci or none
  std::vector<std::string> outputs;
  bool strict = false;
  bool json = false;  // the summary as JSON on standard output
  HistoryFlags history;
  std::string color = "auto";
};

int run(const RunFlags& flags, const engine::Registry& registry, const report::Outputs& outputs);

// Cores that compute at once: hyper-threads of one core count once.
std::uint32_t physical_cores();

void add_run(CLI::App& app, CommandContext& context);

}  // namespace muster::console
