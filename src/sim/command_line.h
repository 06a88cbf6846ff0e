// The command line of muster-sim: flags to campaigns, and their results as text or JSON. Exit codes: 0 all held, 1 a
// seed failed or something was never seen, 2 a flag was wrong, 130 it was interrupted.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "sim/scenario.h"

namespace muster::sim {

struct Flags {
  std::vector<std::string> scenarios;
  std::uint64_t first_seed = 1;
  std::uint64_t last_seed = 1;
  unsigned jobs = 1;
  bool shrink = false;
  bool json = false;
  bool keep_going = false;
  bool trace = false;
  bool repeat_check = false;
  bool list = false;
  bool invariants = false;
  bool help = false;
  bool version = false;
};

// Where it runs.
struct Surroundings {
  std::FILE* out = nullptr;
  std::FILE* err = nullptr;
  bool err_is_terminal = false;         // progress is written over itself there
  std::function<bool()> interrupted{};  // empty: never. Seeds that are under way end, and what there is is told
};

// The words after the program's name. Names of scenarios are checked against those given.
base::Expected<Flags> parse_flags(std::span<const char* const> words, const std::vector<Scenario>& scenarios);

int command_line(int argc, const char* const* argv, const std::vector<Scenario>& scenarios, const Surroundings& around);

}  // namespace muster::sim
