#include "cluster/client_update.h"

#include <algorithm>
#include <iterator>

#include "cluster/gate_options.h"

namespace muster::cluster {
namespace {

void merge(WindowRow& into, const WindowRow& row) {
  into.reported = std::max(into.reported, row.reported);
  into.expected = std::max(into.expected, row.expected);
  into.counts.add(row.counts);
  into.latency.merge(row.latency);
}

}  // namespace

bool ClientUpdate::empty() const {
  return answers.empty() && progress.empty() && results.empty() && ends.empty() && fetched.empty() && !datacenters;
}

void ClientUpdate::add(JobId job, const std::string& datacenter, const WindowRow& row) {
  auto& windows = progress[job].windows;
  const auto key = std::tuple(datacenter, row.workflow, row.window);
  const auto [at, added] = windows.try_emplace(key, row);
  if (!added || windows.size() <= kMaxWaitingWindows) return;
  // The oldest of the same workflow joins its neighbour.
  const auto first = windows.lower_bound({datacenter, row.workflow, 0});
  const auto second = std::next(first);
  const auto same = [&](const auto& entry) {
    return std::get<0>(entry.first) == datacenter && std::get<1>(entry.first) == row.workflow;
  };
  if (second == windows.end() || !same(*second)) return;
  merge(second->second, first->second);
  windows.erase(first);
}

}  // namespace muster::cluster
