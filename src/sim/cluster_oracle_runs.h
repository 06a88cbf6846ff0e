// The truth about executors: who runs what on which cores since when, what each attempt has counted and how it ended.
// Told by the workers' shells as it happens; knows nothing of ledgers. Also knows which nodes cannot be held to their
// word about time: those that were paused, crawl, or whose clock strayed by more than 1 %.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cluster/commands.h"
#include "cluster/effects.h"
#include "cluster/worker.h"
#include "sim/cluster_map.h"
#include "sim/kernel.h"

namespace muster::sim {

class ClusterRuns {
 public:
  struct Attempt {
    base::NodeId worker = base::kNoNode;
    std::uint64_t life = 0;
    cluster::Slice slice;
    cluster::Counts counts;  // so far
    base::Duration began{};
    bool live = true;
    bool told = false;                            // to stop
    std::optional<cluster::PartOutcome> outcome;  // of one that left a result
    cluster::BodyHash body = cluster::kNoBody;
  };
  using Key = std::pair<cluster::PartId, cluster::Fence>;
  using Attempts = std::map<Key, Attempt>;

  ClusterRuns(Kernel& kernel, const ClusterSetup& setup) : kernel_(&kernel), cores_(setup.cores) {}

  // --- told by the workers ---
  // A worker takes an offer on, or knows it already: not so if it was refused for its epoch, fence, life or version.
  void accepted(base::NodeId worker, std::uint64_t life, const cluster::Dispatch& offer);
  // It takes the part on, or says again that it did.
  // `leaving`: the worker was to drain when the offer came.
  void taken_on(base::NodeId worker, std::uint64_t life, const cluster::Dispatch& offer, bool leaving = false);
  void started(base::NodeId worker, std::uint64_t life, const cluster::StartExecutor& order);
  void counted(base::NodeId worker, const Key& key, const cluster::Counts& counts);
  // The executor needs this core no more.
  void leaves(base::NodeId worker, std::uint32_t core) { in_use_[worker].erase(core); }
  void ended(base::NodeId worker, const cluster::ExecutorEnd& end, const cluster::BodyHash& body);
  void told_to_stop(base::NodeId worker, const Key& key);
  // It says that it did not take a part, or stopped it, for a reason that is nobody's fault.
  void excuses(base::NodeId worker, const Key& key, cluster::Loss why);
  // A manager that can decide has answered what the worker asked then, by its own clock.
  void contact(base::NodeId worker, base::Instant asked);
  // The worker's brain was asked: now at the latest it knows that its contact has lapsed, whatever it was told in this
  // turn.
  void thought(base::NodeId worker);
  // All of the worker's executors die with it.
  void went_down(base::NodeId worker);
  // A node got to its alarm so much too late.
  void late(base::NodeId node, base::Duration by);
  void observe(base::NodeId node);
  void booted(base::NodeId node);

  // Whether the node's clock ran true within 1 % for the last minute.
  bool keeps_time(base::NodeId node) const;
  // Whether a worker, and the clocks of those who lead it, can be held to what was promised about time: it was not
  // paused, does not crawl, and all clocks run true.
  bool trusted(base::NodeId worker) const;
  // Whether the clocks of all managers of a datacenter, or of all gates, have run true since then.
  bool managers_keep_time(std::uint32_t datacenter, base::Duration since) const {
    return manager_strayed_[datacenter & 1] < since;
  }
  bool gates_keep_time(base::Duration since) const { return gate_strayed_ < since; }

  const Attempt* attempt(std::uint32_t datacenter, const Key& key) const;
  bool excused(std::uint32_t datacenter, const Key& key, cluster::Loss why) const {
    return excuses_.contains({datacenter, key, why});
  }
  const Attempts& attempts(std::uint32_t datacenter) const { return attempts_[datacenter & 1]; }
  std::size_t live() const { return live_.size(); }
  // Live executors of a job, on workers that can be held to their word; kNoNode if there is none.
  base::NodeId runs(std::uint32_t datacenter, cluster::JobId job) const;
  // Cores that an executor runs on.
  std::size_t cores_of(base::NodeId worker, const Key& key) const;
  bool busy(base::NodeId worker) const { return in_use_.contains(worker) && !in_use_.at(worker).empty(); }
  // Until the worker's contact lapses, by its own clock; zero if it has none.
  base::Duration contact_left(base::NodeId worker) const;
  // All that any attempt of the workflow has counted, anywhere.
  cluster::Counts counted(cluster::JobId job, std::uint32_t workflow) const;
  // What the workflow counts if every share of it runs once; nothing if no executor of it was ever started there.
  std::optional<cluster::Counts> whole(std::uint32_t datacenter, cluster::JobId job, std::uint32_t workflow) const;

 private:
  struct Clock {
    bool known = false;  // the node was started
    base::Duration began{};
    std::int64_t offset = 0;
    base::Duration strayed_at{-1};
    base::Duration late_at{-1};
  };
  struct Contact {
    base::Instant asked = base::Instant::min();
    base::Instant next = base::Instant::min();  // told in this turn
  };

  void end(std::uint32_t datacenter, const Key& key, Attempt& attempt);
  // What runs on the worker and was not told to stop; nothing if there is none.
  std::optional<Key> carries_on(base::NodeId worker) const;
  bool lately(base::Duration at) const;
  Clock& clock(base::NodeId node);
  const Clock* find_clock(base::NodeId node) const;

  Kernel* kernel_;
  std::uint32_t cores_;
  Attempts attempts_[2];
  std::set<std::pair<std::uint32_t, Key>> live_;
  std::map<base::NodeId, std::map<std::uint32_t, Key>> in_use_;  // cores of each worker
  std::map<std::pair<base::NodeId, cluster::JobId>, std::pair<std::uint64_t, std::uint64_t>> epochs_;  // life, epoch
  // Of the last context that each worker was given for a job: its life then, and the version.
  std::map<std::pair<base::NodeId, cluster::JobId>, std::pair<std::uint64_t, std::uint64_t>> contexts_;
  std::set<std::pair<base::NodeId, Key>> taken_;
  std::set<std::tuple<std::uint32_t, Key, cluster::Loss>> excuses_;
  std::map<base::NodeId, Contact> contacts_;  // of a worker's life, by its own clock
  std::vector<Clock> clocks_;                 // by the kernel's index; shorter while the last nodes were never started
  base::Duration manager_strayed_[2] = {base::Duration(-1), base::Duration(-1)};  // when one of a datacenter's last did
  base::Duration gate_strayed_{-1};
};

}  // namespace muster::sim
