#include "cluster/ledger.h"

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "cluster/ledger_codec.h"

namespace muster::cluster {

std::string_view to_text(Loss loss) {
  static constexpr std::array<std::string_view, kLosses> kTexts = {
      "refused", "worker died", "not running", "stuck", "without contact", "overdue", "cancelled", "draining"};
  return kTexts[static_cast<std::size_t>(loss)];
}

std::string_view to_text(Eviction eviction) {
  static constexpr std::array<std::string_view, kEvictions> kTexts = {"dead", "unreachable", "by the operator"};
  return kTexts[static_cast<std::size_t>(eviction)];
}

std::string_view to_text(Verdict verdict) {
  static constexpr std::array<std::string_view, kVerdicts> kTexts = {
      "applied",     "repeated",    "unknown job", "job ended",   "job conflict",
      "queue full",  "ledger full", "stale epoch", "stale fence", "worker gone",
      "cores taken", "cancelled",   "barrier",     "wrong state", "invalid"};
  return kTexts[static_cast<std::size_t>(verdict)];
}

JobState end_of(const LedgerJob& job) {
  const auto completed =
      static_cast<std::size_t>(std::ranges::count(job.workflows, WorkflowState::kCompleted, &LedgerWorkflow::state));
  if (completed == job.workflows.size()) return JobState::kCompleted;
  return completed == 0 ? JobState::kFailed : JobState::kPartial;
}

const LedgerJob* Ledger::job(JobId id) const {
  const auto at = jobs_.find(id);
  return at == jobs_.end() ? nullptr : &at->second;
}

const LedgerPart* Ledger::part(const PartId& id) const {
  const LedgerJob* found = job(id.job);
  if (found == nullptr || id.workflow >= found->workflows.size()) return nullptr;
  const auto& parts = found->workflows[id.workflow].parts;
  return id.part < parts.size() ? &parts[id.part] : nullptr;
}

std::size_t Ledger::queued() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(open_, [&](const auto& entry) { return !jobs_.at(entry.second).started; }));
}

std::size_t Ledger::queue_position(const LedgerJob& job) const {
  std::size_t position = 0;
  for (const auto& [accepted, id] : open_) {
    if (accepted >= job.accepted) break;
    if (!jobs_.at(id).started) ++position;
  }
  return position;
}

const Tombstone* Ledger::tombstone(JobId id) const {
  return tombstones_.find(id);
}

bool Ledger::admitted(const Process& worker) const {
  const auto at = workers_.find(worker.node);
  return at != workers_.end() && at->second.life == worker.life && !at->second.evicted;
}

const std::set<PartId>& Ledger::assigned(NodeId worker) const {
  static const std::set<PartId> kNone;
  const auto at = assigned_.find(worker);
  return at == assigned_.end() ? kNone : at->second;
}

std::uint64_t Ledger::digest() const {
  std::string bytes;
  encode(*this, bytes);
  return base::digest_of(bytes);
}

}  // namespace muster::cluster
