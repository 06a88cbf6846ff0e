// For tests: a ledger fed with commands, and the outlines, workers and hashes that tests speak of.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cluster/commands.h"
#include "cluster/ledger.h"

namespace muster::cluster {

constexpr Process kManagerA{NodeId{1}, Life{10}};
constexpr Process kManagerB{NodeId{2}, Life{10}};
constexpr JobId kJob{77};
constexpr ClientId kClient{5};

inline Process worker(std::uint64_t number, std::uint64_t life = 1) {
  return {NodeId{100 + number}, Life{life}};
}

inline BodyRef body(std::uint64_t number, std::uint64_t size = 100) {
  return {BodyHash{{number, 0, 0, 1}}, size};
}

// Workflows named a, b, c …; each with the indexes it depends on.
inline JobOutline outline(const std::vector<std::vector<std::uint32_t>>& depends) {
  JobOutline made;
  made.name = "shop";
  for (std::size_t i = 0; i < depends.size(); ++i) {
    WorkflowOutline workflow;
    workflow.name = "w" + std::to_string(i);
    workflow.vus = 64;
    workflow.depends = depends[i];
    made.workflows.push_back(std::move(workflow));
  }
  return made;
}

class LedgerFixture {
 public:
  Verdict apply(Command command) {
    return ledger.apply(ledger.index() + 1, {kManagerA, ++sequence, std::move(command)});
  }

  Verdict accept(JobId job, JobOutline what, ClientId client = kClient) {
    return apply(JobAccepted{job, client, NodeId{9}, 0, kManagerA, body(1), std::move(what)});
  }
  Verdict admit(const Process& process, std::uint32_t cores) { return apply(WorkerAdmitted{process, cores}); }
  Verdict provision(std::uint32_t workflow, std::vector<Assignment> parts, JobId job = kJob) {
    return apply(Provision{job, ledger.job(job)->epoch, workflow, std::move(parts)});
  }
  Verdict held(std::uint32_t workflow, std::uint32_t part, PartOutcome outcome = PartOutcome::kCompleted) {
    const PartId id{kJob, workflow, part};
    return apply(ResultHeld{id, ledger.part(id)->fence, outcome, body(50 + workflow * 10 + part), {10, 9, 1}, ""});
  }
  Verdict lost(std::uint32_t workflow, std::uint32_t part, Loss loss) {
    const PartId id{kJob, workflow, part};
    return apply(PartLost{id, ledger.part(id)->fence, ledger.job(kJob)->epoch, loss});
  }
  WorkflowState state(std::uint32_t workflow) const { return ledger.job(kJob)->workflows[workflow].state; }
  const LedgerPart& part(std::uint32_t workflow, std::uint32_t number) const {
    return *ledger.part({kJob, workflow, number});
  }
  std::uint32_t used(std::uint64_t number) const { return ledger.workers().at(worker(number).node).used; }

  Ledger ledger;
  std::uint64_t sequence = 0;
};

}  // namespace muster::cluster
