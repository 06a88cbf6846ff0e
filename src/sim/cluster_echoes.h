// Orders that were superseded and come once more, as over a connection that everybody has given up: the dispatch of a
// part when its worker has heard of a higher fence, what was proposed for a job when another manager leads it. Without
// their help such orders are so rare that nothing shows whether fences and epochs are looked at. Owned by the world.
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
  struct Echo {
    base::NodeId sender{};
    Address from;
    base::NodeId to{};  // of a proposal: whom it was sent to first; another may lead the log by now
    bool proposal = false;
    std::string frame;
  };

  // A node receives this message.
  void heard(base::NodeId node, const Packet& packet, const cluster::Message& message);
  // What was superseded since the last call, each once.
  std::vector<Echo> take(const ClusterLog& log);

 private:
  struct Proposal {
    std::uint32_t datacenter = 0;
    cluster::JobId job{};
    std::uint64_t epoch = 0;
    Echo echo;
  };

  void superseded(base::NodeId worker, const cluster::PartId& part, const cluster::Fence& by);

  std::map<std::pair<base::NodeId, cluster::PartId>, std::pair<cluster::Fence, Echo>> dispatches_;  // by worker
  std::vector<Proposal> proposals_;
  std::vector<Echo> ready_;
};

}  // namespace muster::sim
