// `muster results`: the runs that are kept – lists them, shows one as at its end, compares two, writes one in another
// form, removes some.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "console/command.h"

namespace muster::console {

struct ResultsFlags {
  bool json = false;
  std::uint64_t limit = 20;        // runs that `list` shows
  std::string job;                 // `list`: only of this job
  std::vector<std::string> runs;   // as the user names them
  std::string html;                // `compare`: also as an HTML report
  std::string exported;            // `export`: the run
  std::vector<std::string> forms;  // `export`: json=FILE
  std::optional<std::uint64_t> keep;
  std::string before;  // a date, or an age
  std::string color = "auto";
};

// Exit codes: 0, 1 where the history cannot be used, 2 where what was typed is wrong.
int list_results(const ResultsFlags& flags);
int show_result(const ResultsFlags& flags);
int compare_results(const ResultsFlags& flags, const report::Outputs& outputs);
int export_result(const ResultsFlags& flags, const report::Outputs& outputs);
int remove_results(const ResultsFlags& flags);

void add_results(CLI::App& app, CommandContext& context);

}  // namespace muster::console
