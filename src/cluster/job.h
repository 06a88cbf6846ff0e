// A job as the cluster sees it: what of it must be known to place and order its workflows (its outline), and the words
// for its states. What the workflows do is in the bundle, which only executors open.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "cluster/ids.h"
#include "model/job.h"

namespace muster::cluster {

struct WorkflowOutline {
  std::string name;  // ≤ kMaxName, unique within the job
  model::Priority priority = model::Priority::kAuto;
  bool is_test = true;                      // has at least one test step
  std::uint64_t vus = 1;                    // at the peak; open shapes: max_vus
  std::vector<std::uint32_t> depends;       // indexes of workflows of this job, ≤ kMaxDepends, ascending
  std::optional<base::Duration> run_limit;  // `timeout`; enforced at the worker

  bool operator==(const WorkflowOutline&) const = default;
};

struct JobOutline {
  std::string name;                          // ≤ kMaxName
  std::vector<WorkflowOutline> workflows;    // 1 … kMaxWorkflows
  std::optional<base::Duration> time_limit;  // of the whole job, from its acceptance

  bool operator==(const JobOutline&) const = default;
};

// The layer of each workflow: 0 for those that depend on nothing, else one more than the highest they depend on.
// Fails for what no loader writes: sizes beyond the limits, indexes that do not exist, names given twice, circles.
base::Expected<std::vector<std::uint32_t>> layers(const JobOutline& outline);

// Most parts that one workflow of a job of so many workflows may be cut into.
std::size_t most_parts(std::size_t workflows);

enum class JobState : std::uint8_t {
  kSubmitted,     // the bundle is on its way to a majority; not acknowledged
  kClassifying,   // accepted; layers being laid out
  kProvisioning,  // cores of a layer proposed
  kQueued,        // too few free cores
  kDispatching,   // provisioned, not all parts accepted by their workers
  kRunning,
  kCompleting,  // all workflows ended, the end not yet committed
  kCancelling,
  kCompleted,
  kPartial,
  kFailed,
  kCancelled,
  kTimeout,
};
constexpr std::size_t kJobStates = 13;
std::string_view to_text(JobState state);
bool terminal(JobState state);
// Whether a job in state `from` may be seen in state `to` next. Terminal is final.
bool legal(JobState from, JobState to);

enum class WorkflowState : std::uint8_t {
  kPending,
  kAssigned,  // all parts provisioned
  kRunning,   // all parts accepted (a leader's knowledge; the ledger says kAssigned)
  kCompleted,
  kFailed,
  kCancelled,
  kTimeout,
  kSkipped,
};
constexpr std::size_t kWorkflowStates = 8;
std::string_view to_text(WorkflowState state);
bool terminal(WorkflowState state);
bool legal(WorkflowState from, WorkflowState to);

// How a part ended, as its worker or the log says.
enum class PartOutcome : std::uint8_t { kCompleted, kFailed, kTimeout, kCancelled };
constexpr std::size_t kPartOutcomes = 4;
std::string_view to_text(PartOutcome outcome);

// The few counts of a part or workflow that fit into every message; the rest is in the result's body.
struct Counts {
  std::uint64_t iterations = 0;
  std::uint64_t ok = 0;
  std::uint64_t failed = 0;

  void add(const Counts& other);
  // What was added since `earlier`; nothing if it cannot have grown out of it.
  std::optional<Counts> since(const Counts& earlier) const;
  bool operator==(const Counts&) const = default;
};

// A workflow's share that a part runs: of `total_cores` cores, `cores` beginning at `first_core`. VUs, iterations,
// rates and rows follow from it by the same split on every node.
struct Slice {
  std::uint32_t first_core = 0;
  std::uint32_t cores = 1;
  std::uint32_t total_cores = 1;

  bool operator==(const Slice&) const = default;
};

}  // namespace muster::cluster
