#include "cluster/datacenter_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "cluster/gate_options.h"
#include "cores/datacenter.h"

namespace muster::cluster {
namespace {

static_assert(static_cast<int>(DatacenterClass::kHealthy) == static_cast<int>(cores::DatacenterClass::kHealthy) &&
              static_cast<int>(DatacenterClass::kBusy) == static_cast<int>(cores::DatacenterClass::kBusy) &&
              static_cast<int>(DatacenterClass::kDegraded) == static_cast<int>(cores::DatacenterClass::kDegraded) &&
              static_cast<int>(DatacenterClass::kUnhealthy) == static_cast<int>(cores::DatacenterClass::kUnhealthy));

// What to put first when asking: leaders of a higher term, then those with a quorum.
auto rank(const ManagerReport& said) {
  return std::tuple(!said.leader, said.leader ? UINT64_MAX - said.term : 0, !said.has_quorum, said.manager);
}

}  // namespace

bool DatacenterTable::report(const ManagerReport& report) {
  if (report.manager == kNoNode || report.datacenter.empty() || report.datacenter.size() > kMaxName) return false;
  if (const std::string& home = datacenter_of(report.manager); !home.empty() && home != report.datacenter) {
    forget(report.manager);
  }
  auto at = places_.find(report.datacenter);
  if (at == places_.end()) {
    if (places_.size() >= kMaxDatacenters) return false;
    at = places_.emplace(report.datacenter, Place{}).first;
  }
  auto& managers = at->second.managers;
  if (managers.size() >= kMaxManagers && !managers.contains(report.manager)) return false;
  managers[report.manager] = {report, true, ++reports_};
  home_[report.manager] = report.datacenter;
  judge(report.datacenter);
  return true;
}

void DatacenterTable::died(NodeId manager) {
  const auto home = home_.find(manager);
  if (home == home_.end()) return;
  places_.at(home->second).managers.at(manager).live = false;
  judge(home->second);
}

void DatacenterTable::forget(NodeId manager) {
  const auto home = home_.find(manager);
  if (home == home_.end()) return;
  const std::string name = std::move(home->second);
  home_.erase(home);
  Place& place = places_.at(name);
  place.managers.erase(manager);
  if (place.managers.empty()) {
    places_.erase(name);
  } else {
    judge(name);
  }
}

const std::string& DatacenterTable::datacenter_of(NodeId manager) const {
  static const std::string kNowhere;
  const auto home = home_.find(manager);
  return home == home_.end() ? kNowhere : home->second;
}

DatacenterClass DatacenterTable::health(const std::string& datacenter) const {
  const auto at = places_.find(datacenter);
  return at == places_.end() ? DatacenterClass::kUnhealthy : at->second.summary.health;
}

std::vector<std::string> DatacenterTable::order(std::span<const std::string> preferred) const {
  std::vector<std::tuple<DatacenterClass, bool, std::uint32_t, std::string>> ranked;
  for (const auto& [name, place] : places_) {
    const Datacenter& seen = place.summary;
    if (seen.health == DatacenterClass::kUnhealthy) continue;
    const bool other = std::ranges::find(preferred, name) == preferred.end();
    ranked.emplace_back(seen.health, other, UINT32_MAX - seen.free_cores, name);
  }
  std::ranges::sort(ranked);
  std::vector<std::string> names;
  for (auto& entry : ranked) names.push_back(std::move(std::get<3>(entry)));
  return names;
}

NodeId DatacenterTable::manager_for(const std::string& datacenter, std::uint32_t attempt) const {
  const std::vector<NodeId> live = live_managers(datacenter);
  return live.empty() ? kNoNode : live[attempt % live.size()];
}

std::vector<NodeId> DatacenterTable::live_managers(const std::string& datacenter) const {
  const auto at = places_.find(datacenter);
  if (at == places_.end()) return {};
  std::vector<const ManagerReport*> live;
  for (const auto& [node, manager] : at->second.managers) {
    if (manager.live) live.push_back(&manager.said);
  }
  std::ranges::sort(live, {}, [](const ManagerReport* said) { return rank(*said); });
  std::vector<NodeId> nodes;
  std::ranges::transform(live, std::back_inserter(nodes), [](const ManagerReport* said) { return said->manager; });
  return nodes;
}

std::vector<Datacenter> DatacenterTable::list() const {
  std::vector<Datacenter> all;
  for (const auto& [name, place] : places_) all.push_back(place.summary);
  return all;
}

std::string DatacenterTable::why_none(std::span<const std::string> names) const {
  std::string why;
  const auto say = [&](std::string_view name, std::string_view what) {
    why += fmt::format("{}datacenter '{}' {}", why.empty() ? "" : ", ", name, what);
  };
  const auto say_of = [&](const std::string& name, const Place& place) {
    if (place.summary.health != DatacenterClass::kUnhealthy) return;
    say(name, place.summary.managers == 0 ? "has no live manager" : "has no worker");
  };
  for (const std::string& name : names) {
    const auto at = places_.find(name);
    if (at == places_.end()) {
      say(name, "is not known");
    } else {
      say_of(name, at->second);
    }
  }
  if (names.empty()) {
    for (const auto& [name, place] : places_) say_of(name, place);
  }
  if (why.empty()) why = "no datacenter is known";
  if (why.size() > kMaxReason) why.resize(kMaxReason);
  return why;
}

// The counts of workers and cores are those of one manager: the leader of the highest term, or who spoke last.
void DatacenterTable::judge(const std::string& name) {
  Place& place = places_.at(name);
  const Manager* speaker = nullptr;
  const auto authority = [](const Manager& manager) {
    return std::tuple(manager.said.leader, manager.said.leader ? manager.said.term : 0, manager.order);
  };
  std::uint32_t live = 0;
  bool quorum = false;
  bool stuck = false;
  for (const auto& [node, manager] : place.managers) {
    if (!manager.live) continue;
    ++live;
    quorum = quorum || manager.said.has_quorum;
    stuck = stuck || manager.said.stuck;
    if (speaker == nullptr || authority(manager) > authority(*speaker)) speaker = &manager;
  }
  place.summary = {.name = name};
  if (speaker == nullptr) return;
  const auto health = cores::classify({.managers = static_cast<std::uint32_t>(place.managers.size()),
                                       .live_managers = live,
                                       .manager_stuck = stuck || !quorum,
                                       .workers = speaker->said.workers,
                                       .healthy_workers = speaker->said.healthy_workers,
                                       .free_cores = speaker->said.free_cores});
  place.summary.health = static_cast<DatacenterClass>(health);
  place.summary.managers = live;
  place.summary.workers = speaker->said.healthy_workers;
  place.summary.free_cores = speaker->said.free_cores;
  place.summary.cores = speaker->said.cores;
}

}  // namespace muster::cluster
