#include "sim/scenario.h"

#include <algorithm>
#include <cmath>

namespace muster::sim {

void Totals::add(const Record& record, double took) {
  ++seeds;
  events += record.events;
  faults += record.faults;
  virtual_seconds += base::seconds(record.virtual_time);
  cpu_seconds += took;
  hash = base::mix(hash ^ record.hash);
  for (const auto& [name, count] : record.counters) counters[name] += count;
  for (const auto& [name, values] : record.measures) {
    std::vector<double>& all = measures[name];
    all.insert(all.end(), values.begin(), values.end());
  }
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  const std::size_t index = std::min(values.size() - 1, rank == 0 ? 0 : rank - 1);
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(index));
  return values[index];
}

void demand_faults(Scenario& scenario) {
  for (std::size_t kind = 0; kind < kFaultKinds; ++kind) {
    if (scenario.faults.weight(static_cast<FaultKind>(kind)) > 0)
      scenario.counters.push_back(std::string("fault ").append(name_of(static_cast<FaultKind>(kind))));
  }
}

}  // namespace muster::sim
