// A whole cluster in virtual time: gates, datacenters, clients with their users, the work they give it, and the oracles
// over all of it. In the second phase a core of each group stays healthy, and everything that was acknowledged must
// come to its end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/cluster_client.h"
#include "sim/cluster_echoes.h"
#include "sim/cluster_logged.h"
#include "sim/cluster_worker.h"
#include "sim/world.h"

namespace muster::sim {

class ClusterWorld final : public World {
 public:
  explicit ClusterWorld(ClusterSetup setup) : setup_(std::move(setup)) {}

  void begin(Kernel& kernel) override;
  std::unique_ptr<Process> boot(base::NodeId node) override;
  void observe(base::NodeId node) override;
  void went_down(base::NodeId node) override;
  std::vector<base::NodeId> healthy_core(base::Random& random) override;
  void heal(const std::vector<base::NodeId>& core) override;
  bool settled() override;
  void end() override;
  base::NodeId target(base::Random& random) override;
  void overload(base::NodeId node, base::Duration length) override;
  std::string describe(Channel channel, std::string_view bytes) override;

 private:
  // A group of nodes with a log: the gates, or the managers of a datacenter.
  struct Group {
    std::string name;
    std::vector<base::NodeId> nodes;
    RaftOracle* oracle;
  };

  ClusterProcess* process(base::NodeId node) const;
  const cores::Raft* raft(base::NodeId node) const;  // null while it is down, or if it has none
  base::NodeId leader(const Group& group) const;
  ClusterUser& user(base::NodeId client) {
    return *users_[base::number(client) - base::number(shared_->map.clients()[0])];
  }
  template <class Kind, class What>
  void ask(base::NodeId node, What what);
  void often(base::Duration mean, std::function<void()> action);
  void check_leases(base::NodeId gate);

  // `kind`: what the name says of it, such as kCleanJob.
  cluster::JobId submit(base::NodeId client, std::uint64_t kind);
  void bother(base::NodeId client);
  void maybe_cancel(base::NodeId client, cluster::JobId job);
  void cancel(base::NodeId client, cluster::JobId job);
  // In the second phase: cancels a long job while it runs, and sees that what is cancelled ends in time.
  void time_cancellation();
  void cancel_long_job(base::NodeId client);
  void drain_somebody();
  void change_managers();
  void ask_again();
  // Lets orders that were superseded come again, some time later.
  // Sent again within so many seconds.
  void echo(std::vector<ClusterEchoes::Echo> echoes, double latest);
  void hold_up(base::NodeId worker);
  static bool fresh_under_way(const ClusterUser& user);
  bool in_core(base::NodeId node) const;
  // What is still to come; empty once all is as it should be.
  std::string missing() const;
  // `in_full`: with where it stands, which takes long to find out.
  std::string missing_work(bool in_full) const;
  std::string missing_cores() const;
  std::string missing_bodies() const;
  std::string standing_of(cluster::JobId job) const;

  ClusterSetup setup_;
  std::unique_ptr<ClusterShared> shared_;
  std::vector<Group> groups_;
  std::vector<std::unique_ptr<ClusterUser>> users_;
  std::vector<base::NodeId> core_;
  std::uint64_t next_job_ = 1000;
  bool hold_up_next_ = false;  // who asks its managers next
  bool healing_ = false;
  base::Duration healed_at_{};
  bool cancels_late_ = false;  // in the second phase, too
  cluster::JobId long_job_{};
  base::Duration cancel_again_{};
};

}  // namespace muster::sim
