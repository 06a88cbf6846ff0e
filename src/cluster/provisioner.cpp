#include "cluster/provisioner.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "engine/provisioner.h"

namespace muster::cluster {
namespace {

std::vector<Candidate> shuffled(std::span<const Candidate> candidates, base::Random& random) {
  std::vector<Candidate> order(candidates.begin(), candidates.end());
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  std::vector<Candidate> healthy_first;
  for (const bool degraded : {false, true}) {
    std::ranges::copy_if(order, std::back_inserter(healthy_first),
                         [&](const Candidate& candidate) { return candidate.degraded == degraded; });
  }
  return healthy_first;
}

std::vector<Share> take(std::span<const Candidate> order, std::uint32_t cores, std::size_t most) {
  std::vector<Share> shares;
  for (const Candidate& candidate : order) {
    if (cores == 0 || shares.size() == most) break;
    const std::uint32_t taken = std::min(cores, candidate.free);
    if (taken == 0) continue;
    shares.push_back({candidate.worker, taken});
    cores -= taken;
  }
  if (cores > 0) shares.clear();
  return shares;
}

}  // namespace

std::vector<Share> spread_over(std::span<const Candidate> candidates, std::uint32_t cores, std::size_t most,
                               base::Random& random) {
  std::vector<Candidate> order = shuffled(candidates, random);
  std::vector<Share> shares = take(order, cores, most);
  if (!shares.empty()) return shares;
  std::ranges::sort(order, [](const Candidate& a, const Candidate& b) {
    return a.free != b.free ? a.free > b.free : a.worker < b.worker;
  });
  return take(order, cores, most);
}

std::optional<Process> place(std::span<const Candidate> candidates, std::uint32_t cores,
                             std::span<const Process> failed_on, base::Random& random) {
  for (const Candidate& candidate : shuffled(candidates, random)) {
    const bool failed = std::ranges::find(failed_on, candidate.worker) != failed_on.end();
    if (candidate.free >= cores && !failed) return candidate.worker;
  }
  return std::nullopt;
}

bool may_take(const LedgerPart& part, const Process& worker, std::uint32_t cores) {
  return cores >= part.slice.cores && std::ranges::find(part.failed_on, worker) == part.failed_on.end();
}

bool placeable(const Ledger& ledger, const LedgerPart& part) {
  return std::ranges::any_of(ledger.workers(), [&](const auto& each) {
    const auto& [node, worker] = each;
    return !worker.evicted && may_take(part, Process{node, worker.life}, worker.cores);
  });
}

std::vector<Want> wants(const LedgerJob& job, std::uint32_t pool) {
  std::vector<Want> wanted;
  if (job.end || job.cancel) return wanted;
  std::vector<engine::Candidate> candidates;
  std::vector<std::uint32_t> index;
  bool pending = false;
  for (std::uint32_t i = 0; i < job.workflows.size(); ++i) {
    const LedgerWorkflow& workflow = job.workflows[i];
    for (std::uint32_t part = 0; part < workflow.parts.size(); ++part) {
      if (workflow.parts[part].phase != PartPhase::kWaiting) continue;
      wanted.push_back({i, part, workflow.parts[part].slice.cores});
    }
    if (workflow.layer != job.open_layer || workflow.state == WorkflowState::kSkipped) continue;
    const WorkflowOutline& outline = job.outline.workflows[i];
    candidates.push_back({outline.name, outline.priority, outline.is_test, outline.vus});
    index.push_back(i);
    pending = pending || workflow.state == WorkflowState::kPending;
  }
  if (!pending) return wanted;
  // The batches are those of the whole layer, so that they stay the same while its workflows end.
  for (const engine::Batch& batch : engine::provision(candidates, pool)) {
    const bool over = std::ranges::all_of(
        batch, [&](const auto& placement) { return terminal(job.workflows[index[placement.workflow]].state); });
    if (over) continue;
    for (const engine::Placement& placement : batch) {
      const std::uint32_t workflow = index[placement.workflow];
      if (job.workflows[workflow].state != WorkflowState::kPending) continue;
      wanted.push_back({workflow, std::nullopt, placement.cores});
    }
    break;
  }
  return wanted;
}

std::uint32_t reachable(std::vector<std::uint32_t> cores, std::size_t most) {
  if (cores.size() > most) {
    std::ranges::nth_element(cores, cores.begin() + static_cast<std::ptrdiff_t>(most), std::ranges::greater{});
    cores.resize(most);
  }
  return std::accumulate(cores.begin(), cores.end(), std::uint32_t{0});
}

}  // namespace muster::cluster
