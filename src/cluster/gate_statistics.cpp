#include "cluster/gate_statistics.h"

#include <algorithm>

#include "metrics/options.h"

namespace muster::cluster {
namespace {

constexpr std::size_t kMaxSources = 2 * kMaxDatacenters;
// Totals in one message: each may carry a histogram of some kilobytes.
constexpr std::size_t kTotalsAtOnce = 32;
// Window numbers above it would not fit into a Duration.
constexpr std::uint64_t kMaxWindow = std::uint64_t{1} << 36;

base::Duration end_of_window(std::uint64_t number) {
  return metrics::kWindowLength * static_cast<std::int64_t>(number + 1);
}

}  // namespace

bool GateStatistics::take(const std::string& datacenter, NodeId by, const WindowPush& push, base::Instant now) {
  if (sources_.size() >= kMaxSources && !sources_.contains(datacenter)) return false;
  Source& source = sources_[datacenter];
  if (push.epoch < source.epoch) return false;
  if (push.epoch > source.epoch) {
    // Another manager counts its windows by another clock.
    source.epoch = push.epoch;
    source.next = 0;
    source.clock = {};
  }
  ++source.told;
  for (const TotalRow& row : push.totals) take_total(datacenter, source, by, row);
  for (const WindowRow& row : push.windows) take_window(datacenter, source, row, now);
  return true;
}

void GateStatistics::lose(const std::string& datacenter) {
  const auto at = sources_.find(datacenter);
  if (at == sources_.end() || at->second.lost) return;
  at->second.lost = true;
  changed_.insert(datacenter);
}

std::vector<WindowPush> GateStatistics::due(JobId job, std::uint64_t epoch, bool with_totals, base::Instant now) {
  std::vector<WindowPush> out;
  for (auto& [datacenter, waiting] : waiting_) {
    Source& source = sources_.at(datacenter);
    WindowPush push{.job = job, .epoch = epoch, .windows = {}, .totals = {}, .datacenter = datacenter};
    while (!waiting.empty()) {
      const auto first = waiting.begin();
      if (closes_at(source, first->first.first) > now && waiting.size() <= kMaxWaitingWindows) break;
      source.next = std::max(source.next, first->first.first + 1);
      push.windows.push_back(std::move(first->second));
      waiting.erase(first);
      if (push.windows.size() < kMaxWindowRows) continue;
      out.push_back(push);
      push.windows.clear();
    }
    if (!push.windows.empty()) out.push_back(std::move(push));
  }
  if (!with_totals) return out;
  for (const std::string& datacenter : changed_) tell_totals(datacenter, job, epoch, out);
  changed_.clear();
  return out;
}

std::vector<WindowPush> GateStatistics::all(JobId job, std::uint64_t epoch) const {
  std::vector<WindowPush> out;
  for (const auto& [datacenter, source] : sources_) tell_totals(datacenter, job, epoch, out);
  return out;
}

WorkflowTotals GateStatistics::totals(std::uint32_t workflow) const {
  WorkflowTotals sum;
  for (const auto& [datacenter, source] : sources_) {
    const WorkflowTotals one = totals(datacenter, workflow);
    sum.counts.add(one.counts);
    sum.lost.add(one.lost);
    sum.vus += one.vus;
    sum.latency.merge(one.latency);
  }
  return sum;
}

WorkflowTotals GateStatistics::totals(const std::string& datacenter, std::uint32_t workflow) const {
  WorkflowTotals found;
  const auto at = workflows_.find(workflow);
  const auto source = sources_.find(datacenter);
  if (at == workflows_.end() || source == sources_.end()) return found;
  const Workflow& counted = at->second;
  found.counts = {counted.iterations.count(datacenter), counted.ok.count(datacenter), counted.failed.count(datacenter)};
  found.lost = {counted.lost_iterations.count(datacenter), counted.lost_ok.count(datacenter),
                counted.lost_failed.count(datacenter)};
  if (const auto latency = counted.latency.find(datacenter); latency != counted.latency.end()) {
    found.latency = latency->second;
  }
  if (const auto vus = counted.vus.find(datacenter); vus != counted.vus.end()) found.vus = vus->second.value();
  if (source->second.lost) {
    found.lost = found.counts;
    found.vus = 0;
  }
  return found;
}

std::vector<std::uint32_t> GateStatistics::workflows() const {
  std::vector<std::uint32_t> known;
  for (const auto& [workflow, counted] : workflows_) known.push_back(workflow);
  return known;
}

base::Instant GateStatistics::deadline() const {
  base::Instant next = base::kNever;
  for (const auto& [datacenter, waiting] : waiting_) {
    if (waiting.empty()) continue;
    next = std::min(next, closes_at(sources_.at(datacenter), waiting.begin()->first.first));
  }
  return next;
}

void GateStatistics::take_total(const std::string& datacenter, Source& source, NodeId by, const TotalRow& row) {
  if (row.workflow >= kMaxWorkflows) return;
  Workflow& counted = workflows_[row.workflow];
  counted.iterations.raise(datacenter, row.counts.iterations);
  counted.ok.raise(datacenter, row.counts.ok);
  counted.failed.raise(datacenter, row.counts.failed);
  counted.lost_iterations.raise(datacenter, row.lost.iterations);
  counted.lost_ok.raise(datacenter, row.lost.ok);
  counted.lost_failed.raise(datacenter, row.lost.failed);
  counted.vus[datacenter].write(row.vus, {(source.epoch << 32) + source.told, by});
  metrics::CoarseHistogram& latency = counted.latency[datacenter];
  if (row.latency.count() > latency.count()) latency = row.latency;
  changed_.insert(datacenter);
}

void GateStatistics::take_window(const std::string& datacenter, Source& source, const WindowRow& row,
                                 base::Instant now) {
  if (row.workflow >= kMaxWorkflows || row.window > kMaxWindow || row.window < source.next) return;
  source.clock.take(end_of_window(row.window), now);
  Waiting& waiting = waiting_[datacenter];
  if (waiting.size() > kMaxWaitingWindows) return;
  const auto [at, added] = waiting.try_emplace({row.window, row.workflow}, row);
  // Told twice: the one that more had reported to.
  if (!added &&
      std::pair(row.reported, row.counts.iterations) > std::pair(at->second.reported, at->second.counts.iterations)) {
    at->second = row;
  }
}

base::Instant GateStatistics::closes_at(const Source& source, std::uint64_t window) const {
  const std::optional<base::Duration> offset = source.clock.value();
  return offset ? base::Instant(end_of_window(window) + *offset + close_after_) : base::Instant::min();
}

void GateStatistics::tell_totals(const std::string& datacenter, JobId job, std::uint64_t epoch,
                                 std::vector<WindowPush>& out) const {
  WindowPush push{.job = job, .epoch = epoch, .windows = {}, .totals = {}, .datacenter = datacenter};
  for (const auto& [workflow, counted] : workflows_) {
    if (!counted.latency.contains(datacenter)) continue;
    WorkflowTotals told = totals(datacenter, workflow);
    push.totals.push_back({workflow, told.counts, told.lost, told.vus, std::move(told.latency)});
    if (push.totals.size() < kTotalsAtOnce) continue;
    out.push_back(push);
    push.totals.clear();
  }
  if (!push.totals.empty()) out.push_back(std::move(push));
}

}  // namespace muster::cluster
