#include "cluster/reconcile.h"

#include <algorithm>

namespace muster::cluster {
namespace {

Finding judge(const Ledger& ledger, const Process& worker, const PartReport& report) {
  const LedgerJob* job = ledger.job(report.part.job);
  const Finding unwanted = report.finished ? Finding::kAck : Finding::kStop;
  if (job == nullptr) return ledger.tombstone(report.part.job) != nullptr ? unwanted : Finding::kUnknown;
  const LedgerPart* part = ledger.part(report.part);
  if (part == nullptr || part->fence < report.fence) return job->end ? unwanted : Finding::kNewer;
  if (report.fence < part->fence || part->worker != worker) return unwanted;
  switch (part->phase) {
    case PartPhase::kAssigned:
      return Finding::kAdopt;
    case PartPhase::kWaiting:
      // Given up for lost, but a result that is there may still be taken.
      return report.finished ? Finding::kAdopt : Finding::kStop;
    case PartPhase::kEnded:
      return unwanted;
  }
  return Finding::kNewer;
}

}  // namespace

std::vector<Action> reconcile(const Ledger& ledger, const Process& worker, std::span<const Tracked> tracked,
                              std::span<const PartReport> reported, std::uint64_t version) {
  std::vector<Action> actions;
  std::vector<PartId> seen;
  for (std::size_t i = 0; i < reported.size(); ++i) {
    const PartReport& report = reported[i];
    seen.push_back(report.part);
    actions.push_back({judge(ledger, worker, report), report.part, report.fence, i});
  }
  std::ranges::sort(seen);
  for (const Tracked& part : tracked) {
    if (version <= part.version || std::ranges::binary_search(seen, part.part)) continue;
    actions.push_back({Finding::kMissing, part.part, part.fence, reported.size()});
  }
  return actions;
}

}  // namespace muster::cluster
