// Many seeds of one scenario, spread over threads and told in the order of the seeds. Each thread runs whole seeds;
// only the handing out and the telling are shared. A failing seed is run once more with its trace before it is told.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario.h"
#include "sim/seed_run.h"

namespace muster::sim {

// How far it is.
struct CampaignProgress {
  std::uint64_t seeds = 0;  // told
  std::uint64_t failed = 0;
  double of = 0;       // which may be more than a whole number holds
  double seconds = 0;  // since the first began
};

struct CampaignOptions {
  std::uint64_t first = 1;
  std::uint64_t last = 1;  // inclusive
  unsigned threads = 1;
  bool keep_going = false;    // after a seed that failed
  bool repeat_check = false;  // run every seed twice and compare the hashes
  // Both may be empty. Called by one thread at a time, after every seed and before each.
  std::function<void(const CampaignProgress&)> tell{};
  std::function<bool()> interrupted{};
};

struct FailedSeed {
  std::uint64_t seed = 0;
  SeedRun run;  // with its trace
};

struct CampaignResult {
  Totals totals;
  std::vector<FailedSeed> failures;
  std::vector<std::string> unseen;   // counters that no seed hit though there were enough seeds
  bool counters_judged = false;      // there were
  std::optional<Violation> verdict;  // of what holds over many seeds
  bool interrupted = false;          // before all seeds had run: what is missing says nothing
  double wall_seconds = 0;

  bool held() const { return failures.empty() && unseen.empty() && !verdict; }
  bool passed() const { return held() && !interrupted; }
};

CampaignResult run_campaign(const Scenario& scenario, const CampaignOptions& options);

}  // namespace muster::sim
