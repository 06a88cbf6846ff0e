// What is shown of one running job: windows and totals of every datacenter that runs or ran it, as they arrive late,
// twice, out of order, or from a manager that has just taken over. Totals are G-counters with one entry per datacenter,
// and histograms that only grow, so they never fall whoever tells them; what replaces itself is a last-writer-wins
// register. A window waits for its time, then is handed on once. Used by gates, and by clients to merge what gates
// tell.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cluster/clock_offset.h"
#include "cluster/gate_options.h"
#include "cluster/messages_job.h"
#include "metrics/g_counter.h"
#include "metrics/lww_register.h"

namespace muster::cluster {

// Everything that a workflow has counted, at one datacenter or at all.
struct WorkflowTotals {
  Counts counts;
  Counts lost;  // share of it that lost attempts, or lost datacenters, had counted
  std::uint64_t vus = 0;
  metrics::CoarseHistogram latency;

  bool operator==(const WorkflowTotals&) const = default;
};

class GateStatistics {
 public:
  // Windows are handed on `close_after` their end.
  explicit GateStatistics(base::Duration close_after) : close_after_(close_after) {}

  // What a datacenter told; `by` and the epoch in it order what replaces itself. False for what is too much.
  bool take(const std::string& datacenter, NodeId by, const WindowPush& push, base::Instant now);
  // What it counted stays in the totals and is shown as lost.
  void lose(const std::string& datacenter);

  // Windows whose time has come, ascending, one message for each datacenter that has any; with totals of datacenters
  // that changed, if asked for.
  std::vector<WindowPush> due(JobId job, std::uint64_t epoch, bool with_totals, base::Instant now);
  // Everything that is known, for one who missed something: all totals.
  std::vector<WindowPush> all(JobId job, std::uint64_t epoch) const;

  WorkflowTotals totals(std::uint32_t workflow) const;                                 // over all datacenters
  WorkflowTotals totals(const std::string& datacenter, std::uint32_t workflow) const;  // at one
  std::vector<std::uint32_t> workflows() const;                                        // that have totals, ascending

  bool changed() const { return !changed_.empty(); }  // totals, since due() told them
  base::Instant deadline() const;                     // when the next window is due; kNever if none waits

 private:
  using Counter = metrics::GCounter<std::string>;
  using Register = metrics::LwwRegister<std::uint64_t>;
  struct Workflow {
    Counter iterations, ok, failed;
    Counter lost_iterations, lost_ok, lost_failed;
    std::map<std::string, Register> vus;
    std::map<std::string, metrics::CoarseHistogram> latency;
  };
  struct Source {
    bool lost = false;
    std::uint64_t epoch = 0;  // the highest seen
    std::uint64_t told = 0;   // counts what it told, for the order of writes
    std::uint64_t next = 0;   // windows below it were handed on
    ClockOffset clock;        // of the manager that counts
  };
  using Window = std::pair<std::uint64_t, std::uint32_t>;  // number, workflow
  using Waiting = std::map<Window, WindowRow>;

  void take_total(const std::string& datacenter, Source& source, NodeId by, const TotalRow& row);
  void take_window(const std::string& datacenter, Source& source, const WindowRow& row, base::Instant now);
  base::Instant closes_at(const Source& source, std::uint64_t window) const;
  void tell_totals(const std::string& datacenter, JobId job, std::uint64_t epoch, std::vector<WindowPush>& out) const;

  base::Duration close_after_;
  std::map<std::string, Source> sources_;
  std::map<std::uint32_t, Workflow> workflows_;
  std::map<std::string, Waiting> waiting_;
  std::set<std::string> changed_;
};

}  // namespace muster::cluster
