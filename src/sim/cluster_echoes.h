// Orders that were superseded and come once more, as over a connection that everybody has given up: the dispatch of a
// part when its worker has heard of a higher fence, one that never reached its worker when that was evicted and is back
// again, what was proposed for a job when another manager leads it. Some proposals come only then: one that comes twice
// has had its effect. Without their help such orders are so rare that nothing shows whether fences, admissions and
// epochs are looked at. Owned by the world.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cluster/messages.h"
#include "sim/cluster_oracle_log.h"
#include "sim/process.h"

namespace muster::sim {

class ClusterEchoes {
 public:
  explicit ClusterEchoes(const ClusterLog& log) : log_(&log) {}

  struct Echo {
    base::NodeId sender{};
    Address from;
    base::NodeId to{};  // of a proposal: whom it was sent to first; another may lead the log by now
    bool proposal = false;
    base::Duration sent{};
    std::string frame;
  };

  // A node sends this message: what it says and how it would arrive.
  void leaves(const cluster::Message& message, const Echo& as);
  // A node receives this message. False if it must not: it is kept back, as all its repetitions will be.
  bool heard(base::NodeId node, const Packet& packet, const cluster::Message& message);
  // What was superseded since the last call, each once.
  std::vector<Echo> take();
  // The same of what was kept back. To be asked after every event: its successor's decision is on its way already.
  std::vector<Echo> take_kept_back();
  // From now on everything gets through.
  void end() { ended_ = true; }

 private:
  struct Proposal {
    std::uint32_t datacenter = 0;
    cluster::JobId job{};
    std::uint64_t epoch = 0;
    Echo echo;
  };

  struct Unheard {
    cluster::Fence fence;
    cluster::Life life{};  // of the worker
    std::uint64_t admission = 0;
    Echo echo;
  };

  bool superseded(const Proposal& proposal) const;
  bool deaf(base::NodeId node, const cluster::Message& message);
  void reached(base::NodeId worker, const cluster::PartId& part, const cluster::Fence& fence);
  void take_readmitted(std::vector<Echo>& taken);
  std::vector<Echo> take_superseded(std::vector<Proposal>& from) const;
  void superseded(base::NodeId worker, const cluster::PartId& part, const cluster::Fence& by);

  const ClusterLog* log_;
  std::map<std::pair<base::NodeId, cluster::PartId>, std::pair<cluster::Fence, Echo>> dispatches_;  // by worker
  std::map<std::pair<base::NodeId, cluster::PartId>, Unheard> unheard_;  // sent under a fence above those that arrived
  std::map<std::pair<base::NodeId, cluster::PartId>, cluster::Fence> reached_;  // the highest that arrived
  std::vector<Proposal> proposals_;
  std::vector<Proposal> kept_back_;
  std::vector<Echo> ready_;
  // Hears no orders until it is evicted for it, which is how some of them come never, and then too late.
  cluster::Process deaf_;
  std::uint64_t deaf_under_ = 0;  // its admission
  bool ended_ = false;
};

}  // namespace muster::sim
