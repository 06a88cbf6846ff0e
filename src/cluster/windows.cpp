#include "cluster/windows.h"

#include <algorithm>

namespace muster::cluster {
namespace {

// Cumulative values rise; one that fell would come from a worker that lies, and counts as no news.
std::uint64_t risen(std::uint64_t now, std::uint64_t before) {
  return now > before ? now - before : 0;
}

Counts difference(const Counts& now, const Counts& before) {
  return {risen(now.iterations, before.iterations), risen(now.ok, before.ok), risen(now.failed, before.failed)};
}

bool covers(const Counts& now, const Counts& before) {
  return now.iterations >= before.iterations && now.ok >= before.ok && now.failed >= before.failed;
}

Counts highest(const Counts& a, const Counts& b) {
  return {std::max(a.iterations, b.iterations), std::max(a.ok, b.ok), std::max(a.failed, b.failed)};
}

}  // namespace

bool Windows::add(const PartProgress& progress, base::Duration offset, base::Instant now) {
  const Key key{progress.part.workflow, progress.part.part, progress.fence};
  Attempt& attempt = attempts_[key];
  if (progress.sequence <= attempt.sequence || attempt.ended || !covers(progress.counts, attempt.counts)) return false;
  const base::Instant collected = std::min(now, base::Instant(progress.collected + offset));
  const auto at = collected.time_since_epoch() / options_.width;
  // Too late for its window: it goes into the oldest that is open.
  const std::uint64_t window = std::max(static_cast<std::uint64_t>(std::max<std::int64_t>(at, 0)), last_closed_ + 1);
  Open& open = open_[{window, key.workflow}];
  open.counts.add(difference(progress.counts, attempt.counts));
  open.reported.insert(key.part);
  attempt.sequence = progress.sequence;
  attempt.counts = progress.counts;
  attempt.vus = progress.vus;
  attempt.latency = progress.latency;
  changed_ = true;
  return true;
}

void Windows::sync(JobId id, const LedgerJob& job) {
  static_cast<void>(id);
  for (auto& [key, attempt] : attempts_) {
    if (key.workflow >= job.workflows.size() || key.part >= job.workflows[key.workflow].parts.size()) continue;
    const LedgerPart& part = job.workflows[key.workflow].parts[key.part];
    const bool current = part.fence == key.fence;
    const bool lost = key.fence < part.fence || (current && part.phase == PartPhase::kWaiting) ||
                      (current && part.phase == PartPhase::kEnded && part.result.size == 0 &&
                       part.outcome != PartOutcome::kCompleted && part.counts == Counts{});
    changed_ = changed_ || lost != attempt.lost;
    attempt.lost = lost;
    if (lost) attempt.vus = 0;
  }
  for (std::uint32_t w = 0; w < job.workflows.size(); ++w) {
    for (std::uint32_t p = 0; p < job.workflows[w].parts.size(); ++p) {
      const LedgerPart& part = job.workflows[w].parts[p];
      if (part.phase != PartPhase::kEnded || part.counts == Counts{}) continue;
      Attempt& attempt = attempts_[{w, p, part.fence}];
      if (attempt.ended) continue;
      attempt.ended = true;
      attempt.vus = 0;
      attempt.counts = highest(attempt.counts, part.counts);
      changed_ = true;
    }
  }
}

std::vector<WindowRow> Windows::closed(const LedgerJob& job, std::size_t most, base::Instant now) {
  std::vector<WindowRow> rows;
  while (!open_.empty() && deadline() <= now) {
    const auto& [key, open] = *open_.begin();
    const auto& [window, workflow] = key;
    last_closed_ = std::max(last_closed_, window);
    WindowRow row;
    row.workflow = workflow;
    row.window = window;
    row.reported = static_cast<std::uint32_t>(open.reported.size());
    if (workflow < job.workflows.size()) {
      row.expected = static_cast<std::uint32_t>(
          std::ranges::count(job.workflows[workflow].parts, PartPhase::kAssigned, &LedgerPart::phase));
    }
    row.counts = open.counts;
    rows.push_back(std::move(row));
    open_.erase(open_.begin());
  }
  if (rows.size() > most) rows.erase(rows.begin(), rows.end() - static_cast<std::ptrdiff_t>(most));
  return rows;
}

base::Instant Windows::deadline() const {
  if (open_.empty()) return base::kNever;
  const auto end = static_cast<std::int64_t>(open_.begin()->first.first + 1) * options_.width;
  return base::Instant(end) + options_.close_after;
}

std::vector<TotalRow> Windows::totals() const {
  std::map<std::uint32_t, TotalRow> rows;
  for (const auto& [key, attempt] : attempts_) {
    TotalRow& row = rows[key.workflow];
    row.workflow = key.workflow;
    row.counts.add(attempt.counts);
    if (attempt.lost) row.lost.add(attempt.counts);
    row.vus += attempt.vus;
    row.latency.merge(attempt.latency);
  }
  std::vector<TotalRow> list;
  for (auto& [workflow, row] : rows) list.push_back(std::move(row));
  return list;
}

}  // namespace muster::cluster
