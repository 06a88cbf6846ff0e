#include "cluster/windows.h"

#include <algorithm>
#include <utility>

#include "metrics/histogram_since.h"

namespace muster::cluster {
namespace {

bool counted(metrics::Taken taken) {
  return taken == metrics::Taken::kCounted || taken == metrics::Taken::kAmended;
}

// An attempt that is over and left nothing that counts. One that was given up may bring its result until the part is
// another's, and what was told as lost is never taken back.
bool lost(const LedgerPart& part, const Fence& fence) {
  if (fence < part.fence) return true;
  return part.phase == PartPhase::kEnded && part.outcome != PartOutcome::kCompleted && part.result.size == 0;
}

}  // namespace

void Windows::add(const PartProgress& progress, base::Duration offset, base::Instant now) {
  Workflow& workflow = workflows_[progress.part.workflow];
  const Source source{progress.part.part, progress.fence};
  const base::Instant collected(progress.collected + offset);
  const Sample sample{progress.counts, progress.latency};
  if (!counted(workflow.samples.take(source, progress.sequence, collected, sample, now))) return;
  const auto [at, fresh] = workflow.last.try_emplace(source);
  if (fresh) workflow.open.insert(std::ranges::lower_bound(workflow.open, source), source);
  Last& last = at->second;
  changed_ = true;
  if (last.over) return;
  last.vus = progress.vus;
  last.latency = progress.latency;
}

void Windows::sync(const LedgerJob& job, base::Instant now) {
  for (std::uint32_t w = 0; w < job.workflows.size(); ++w) {
    const auto& parts = job.workflows[w].parts;
    if (!parts.empty()) sync(workflows_[w], parts, now);
  }
}

std::vector<WindowRow> Windows::closed(const LedgerJob& job, std::size_t most, base::Instant now) {
  std::vector<WindowRow> rows;
  for (auto& [index, workflow] : workflows_) {
    workflow.samples.close(now);
    const auto expected = static_cast<std::uint32_t>(
        std::ranges::count(job.workflows[index].parts, PartPhase::kAssigned, &LedgerPart::phase));
    for (const auto& window : workflow.samples.closed_from(workflow.next)) {
      rows.push_back({index, window.number, window.reported, expected, window.added.counts, window.added.latency});
      workflow.next = window.number + 1;
    }
  }
  std::ranges::sort(rows, {}, &WindowRow::window);
  if (rows.size() > most) rows.erase(rows.begin(), rows.end() - static_cast<std::ptrdiff_t>(most));
  return rows;
}

base::Instant Windows::deadline() const {
  base::Instant due = base::kNever;
  for (const auto& [index, workflow] : workflows_) due = std::min(due, workflow.samples.deadline());
  return due;
}

std::vector<TotalRow> Windows::totals() const {
  std::vector<TotalRow> rows;
  for (const auto& [index, workflow] : workflows_) {
    TotalRow& row = rows.emplace_back();
    row.workflow = index;
    row.counts = workflow.samples.total().counts;
    row.lost = workflow.samples.lost().counts;
    row.latency = workflow.samples.total().latency;
    for (const auto& [source, last] : workflow.last) row.vus += last.over ? 0 : last.vus;
  }
  return rows;
}

void Windows::Sample::add(const Sample& other) {
  counts.add(other.counts);
  latency.merge(other.latency);
}

std::optional<Windows::Sample> Windows::Sample::since(const Sample& earlier) const {
  const auto added = counts.since(earlier.counts);
  auto recorded = metrics::since(latency, earlier.latency);
  if (!added || !recorded) return std::nullopt;
  return Sample{*added, std::move(*recorded)};
}

void Windows::sync(Workflow& workflow, const std::vector<LedgerPart>& parts, base::Instant now) {
  std::erase_if(workflow.open, [&](const Source& source) {
    Last& last = workflow.last.at(source);
    if (last.over) return true;
    if (source.part >= parts.size()) return false;
    const LedgerPart& part = parts[source.part];
    if (!lost(part, source.fence)) {
      // Nobody runs it.
      if (part.phase == PartPhase::kWaiting) changed_ = std::exchange(last.vus, 0) > 0 || changed_;
      return false;
    }
    last.over = true;
    changed_ = true;
    workflow.samples.lose(source);
    return true;
  });
  workflow.settled.resize(parts.size());
  // A held result is the attempt's last word; a leader that took over knows some attempts by it alone.
  for (std::uint32_t p = 0; p < parts.size(); ++p) {
    if (parts[p].phase != PartPhase::kEnded || lost(parts[p], parts[p].fence)) continue;
    if (workflow.settled[p] == parts[p].fence) continue;
    workflow.settled[p] = parts[p].fence;
    const Source source{p, parts[p].fence};
    Last& last = workflow.last[source];
    if (last.over) continue;
    last.over = true;
    changed_ = true;
    static_cast<void>(workflow.samples.take(source, UINT64_MAX, now, {parts[p].counts, last.latency}, now));
  }
}

}  // namespace muster::cluster
