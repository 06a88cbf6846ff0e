// The simulator's results in words: text for people, JSON for programs. Pure.
#pragma once

#include <string>
#include <vector>

#include "sim/campaign.h"
#include "sim/scenario.h"
#include "sim/seed_run.h"

namespace muster::sim {

// One line, without its end.
std::string tell_progress(const Scenario& scenario, const CampaignProgress& progress);
std::string tell_totals(const Scenario& scenario, const CampaignResult& result);
// Scenario, seed, invariant, what was seen, the faults and the last page of the trace.
std::string tell_failure(const Scenario& scenario, const FailedSeed& failure);
std::string tell_shrunk(const Shrunk& shrunk);
// One line. `shrunk` has one for each failure, or none at all.
std::string tell_json(const Scenario& scenario, const CampaignResult& result, const std::vector<Shrunk>& shrunk);
// In eighty columns, and as one line of JSON.
std::string tell_scenarios(const std::vector<Scenario>& scenarios);
std::string tell_scenarios_json(const std::vector<Scenario>& scenarios);
std::string tell_invariants(const std::vector<Scenario>& scenarios);
std::string tell_invariants_json(const std::vector<Scenario>& scenarios);

}  // namespace muster::sim
