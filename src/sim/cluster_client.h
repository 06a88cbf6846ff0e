// The shell of a simulated client: its brain, and the user who asks it for things and is told.
#pragma once

#include <optional>

#include "cluster/client.h"
#include "sim/cluster_process.h"
#include "sim/cluster_user.h"

namespace muster::sim {

class ClientProcess final : public ClusterProcess {
 public:
  // The user outlives the process.
  ClientProcess(ClusterShared& shared, ClusterUser& user) : ClusterProcess(shared), user_(&user) {}

  cluster::Client& brain() { return *brain_; }
  // Asks again for whatever the user waits for and the client has lost sight of.
  void ask_again(Host& host);

 protected:
  bool begin(Host& host) override;
  void on_message(Host& host, base::NodeId from, const cluster::Message& message) override;
  void on_gone(Host& host, base::NodeId peer) override;
  void on_body_stored(Host& host, const cluster::BodyHash& hash, bool ok) override;
  void on_body_read(Host& /*host*/, const cluster::BodyHash& /*hash*/, std::optional<std::string> /*bytes*/) override {}
  void on_wake(Host& host) override;
  void drain(Host& host) override;
  base::Instant next() const override { return brain_->deadline(); }

 private:
  void ask_for_all(base::Instant now);

  ClusterUser* user_;
  std::optional<cluster::Client> brain_;
};

}  // namespace muster::sim
