#include "cluster/queue.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "cluster/options.h"

namespace muster::cluster {
namespace {

class Feeder {
 public:
  // What is proposed already is not there any more.
  Feeder(std::vector<Candidate> candidates, const std::vector<const Provision*>& under_way, base::Random& random)
      : candidates_(std::move(candidates)), random_(random) {
    for (const Candidate& candidate : candidates_) free_ += candidate.free;
    for (const Provision* const each : under_way) deduct(each->parts);
  }

  std::uint64_t free() const { return free_; }

  // Whether a part that waits can have its cores now. If not, no worker that may take it gives any to others, so that
  // it gets the first ones that are enough; the workers that may not take it serve who waits behind it.
  bool ready_for(const LedgerPart& part, const Ledger& ledger) {
    const auto may = [&](const Candidate& candidate) {
      return may_take(part, candidate.worker, ledger.workers().at(candidate.worker.node).cores);
    };
    const auto enough = [&](const Candidate& candidate) {
      return candidate.free >= part.slice.cores && may(candidate);
    };
    if (std::ranges::any_of(candidates_, enough)) return true;
    for (Candidate& candidate : candidates_) {
      if (may(candidate)) take(candidate, candidate.free);
    }
    return false;
  }

  // The assignments for one want; none if no worker may take it, and then its cores are kept for it.
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
    if (made.empty()) free_ -= std::min<std::uint64_t>(want.cores, free_);
    deduct(made);
    return made;
  }

 private:
  void deduct(const std::vector<Assignment>& assignments) {
    for (const Assignment& assignment : assignments) {
      const auto at = std::ranges::find(candidates_, assignment.worker, &Candidate::worker);
      if (at != candidates_.end()) take(*at, at->on_trial ? at->free : std::min(assignment.cores, at->free));
    }
  }
  void take(Candidate& candidate, std::uint32_t cores) {
    candidate.free -= cores;
    free_ -= std::min<std::uint64_t>(cores, free_);
  }

  std::vector<Candidate> candidates_;
  base::Random& random_;
  std::uint64_t free_ = 0;
};

}  // namespace

std::vector<Provision> feed(const Ledger& ledger, const Process& self, std::vector<Candidate> candidates,
                            const std::vector<std::uint32_t>& pool, const std::vector<const Provision*>& under_way,
                            base::Random& random) {
  std::set<std::pair<JobId, std::uint32_t>> proposed;
  for (const Provision* const each : under_way) proposed.emplace(each->job, each->workflow);
  std::vector<Provision> provisions;
  Feeder feeder(std::move(candidates), under_way, random);
  for (const auto& [accepted, id] : ledger.open_jobs()) {
    const LedgerJob& job = *ledger.job(id);
    std::map<std::uint32_t, Provision> by_workflow;
    bool blocked = feeder.free() == 0;
    for (const Want& want : wants(job, reachable(pool, most_parts(job.workflows.size())))) {
      if (proposed.contains({id, want.workflow})) continue;
      if (want.part && !feeder.ready_for(job.workflows[want.workflow].parts[*want.part], ledger)) continue;
      blocked = blocked || want.cores > feeder.free();
      if (blocked) break;
      // What another manager will assign, perhaps elsewhere, is left to it as if it were here.
      const std::vector<Assignment> made = feeder.assign(job, want);
      if (job.owner != self) continue;
      std::vector<Assignment>& parts = by_workflow[want.workflow].parts;
      parts.insert(parts.end(), made.begin(), made.end());
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
