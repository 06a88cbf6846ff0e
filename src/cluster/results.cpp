#include "cluster/results.h"

#include <vector>

namespace muster::cluster {

void Results::add(Desk& desk, const PartResult& result) {
  const Worth worth = worth_of(desk.ledger, result.part, result.fence);
  if (worth == Worth::kUnclear) return;
  if (worth == Worth::kUnwanted) {
    desk.note(Noted::kResultRepeated, result.part, result.fence, result.worker);
    desk.send(result.worker, ResultAck{result.part, result.fence});
    return;
  }
  const auto at = pending_.find(result.part);
  if (at != pending_.end()) {
    if (at->second.fence == result.fence) return;
    drop(desk, at->second);
    pending_.erase(at);
  }
  pending_.emplace(result.part, result);
  if (result.body.size > 0) desk.bodies.pin(result.body, result.worker, desk.now, desk.effects);
}

void Results::step(Desk& desk) {
  for (auto at = pending_.begin(); at != pending_.end();) {
    const PartResult& result = at->second;
    const Worth worth = worth_of(desk.ledger, result.part, result.fence);
    if (worth == Worth::kWanted) {
      if (result.body.size == 0 || desk.bodies.on_majority(result.body)) {
        desk.propose(ResultHeld{result.part, result.fence, result.outcome, result.body, result.counts, result.reason});
      }
      ++at;
      continue;
    }
    if (worth == Worth::kUnwanted) desk.send(result.worker, ResultAck{result.part, result.fence});
    drop(desk, result);
    at = pending_.erase(at);
  }
}

void Results::abandon(Desk& desk) {
  for (const auto& [part, result] : pending_) drop(desk, result);
  pending_.clear();
}

void Results::drop(Desk& desk, const PartResult& result) {
  if (result.body.size > 0) desk.bodies.unpin(result.body, desk.now);
}

Worth worth_of(const Ledger& ledger, const PartId& id, const Fence& fence) {
  const LedgerJob* job = ledger.job(id.job);
  if (job == nullptr) return ledger.tombstone(id.job) != nullptr ? Worth::kUnwanted : Worth::kUnclear;
  if (job->end) return Worth::kUnwanted;
  const LedgerPart* part = ledger.part(id);
  if (part == nullptr || part->fence < fence) return Worth::kUnclear;
  return part->fence == fence && part->phase != PartPhase::kEnded ? Worth::kWanted : Worth::kUnwanted;
}

}  // namespace muster::cluster
