#include "cluster/queue.h"

#include <algorithm>
#include <map>
#include <utility>

#include "cluster/options.h"

namespace muster::cluster {
namespace {

void deduct(std::vector<Candidate>& candidates, const Process& worker, std::uint32_t cores) {
  const auto at = std::ranges::find(candidates, worker, &Candidate::worker);
  if (at != candidates.end()) at->free -= at->on_trial ? at->free : std::min(cores, at->free);
}

class Feeder {
 public:
  Feeder(std::vector<Candidate> candidates, base::Random& random)
      : candidates_(std::move(candidates)), random_(random) {
    for (const Candidate& candidate : candidates_) free_ += candidate.free;
  }

  std::uint64_t free() const { return free_; }
  void reserve(std::uint32_t cores) { free_ -= std::min<std::uint64_t>(cores, free_); }

  // Whether a part that waits can have its cores now. If not, the worker that is nearest to having them gives none to
  // others; those that may not take the part serve who waits behind it.
  bool ready_for(const LedgerPart& part, const Ledger& ledger) {
    Candidate* nearest = nullptr;
    for (Candidate& candidate : candidates_) {
      if (!may_take(part, candidate.worker, ledger.workers().at(candidate.worker.node).cores)) continue;
      if (nearest == nullptr || candidate.free > nearest->free) nearest = &candidate;
    }
    if (nearest == nullptr) return false;
    if (nearest->free >= part.slice.cores) return true;
    reserve(std::exchange(nearest->free, 0));
    return false;
  }

  // The assignments for one want; none if no worker may take it.
  std::vector<Assignment> assign(const LedgerJob& job, const Want& want) {
    std::vector<Assignment> made;
    if (want.part) {
      const LedgerPart& part = job.workflows[want.workflow].parts[*want.part];
      if (const auto worker = place(candidates_, want.cores, part.failed_on, random_)) {
        made.push_back({*want.part, *worker, want.cores, part.fence.attempt + 1});
      }
    } else {
      std::uint32_t number = 0;
      for (const Share& share : spread_over(candidates_, want.cores, most_parts(job.workflows.size()), random_)) {
        made.push_back({number++, share.worker, share.cores, 1});
      }
    }
    for (const Assignment& assignment : made) deduct(candidates_, assignment.worker, assignment.cores);
    return made;
  }

 private:
  std::vector<Candidate> candidates_;
  base::Random& random_;
  std::uint64_t free_ = 0;
};

}  // namespace

std::vector<Provision> feed(const Ledger& ledger, const Process& self, std::vector<Candidate> candidates,
                            const std::vector<std::uint32_t>& pool,
                            const std::function<bool(JobId, std::uint32_t)>& under_way, base::Random& random) {
  std::vector<Provision> provisions;
  Feeder feeder(std::move(candidates), random);
  for (const auto& [accepted, id] : ledger.open_jobs()) {
    const LedgerJob& job = *ledger.job(id);
    std::map<std::uint32_t, Provision> by_workflow;
    bool blocked = feeder.free() == 0;
    for (const Want& want : wants(job, reachable(pool, most_parts(job.workflows.size())))) {
      if (want.part && !feeder.ready_for(job.workflows[want.workflow].parts[*want.part], ledger)) continue;
      blocked = blocked || want.cores > feeder.free();
      if (blocked) break;
      feeder.reserve(want.cores);
      if (job.owner != self || under_way(id, want.workflow)) continue;
      Provision& provision = by_workflow[want.workflow];
      for (Assignment& assignment : feeder.assign(job, want)) provision.parts.push_back(assignment);
    }
    for (auto& [workflow, provision] : by_workflow) {
      if (provision.parts.empty()) continue;
      provision.job = id;
      provision.epoch = job.epoch;
      provision.workflow = workflow;
      provisions.push_back(std::move(provision));
    }
    if (blocked) break;
  }
  return provisions;
}

}  // namespace muster::cluster
