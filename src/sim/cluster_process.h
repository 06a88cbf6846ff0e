// What the shells of all nodes of a simulated cluster have in common: frames to and from peers by name, one or two
// membership groups, bodies as files, one alarm for everything, and telling the oracles. What a node decides is in the
// brain that a derived class holds.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cluster/effects.h"
#include "cluster/presence.h"
#include "cores/swim.h"
#include "sim/cluster_echoes.h"
#include "sim/cluster_oracle_leases.h"
#include "sim/cluster_oracle_limits.h"
#include "sim/cluster_oracle_log.h"
#include "sim/cluster_oracle_resources.h"
#include "sim/cluster_oracle_runs.h"
#include "sim/cluster_oracle_talk.h"
#include "sim/process.h"
#include "sim/raft_oracle.h"

namespace muster::sim {

// Membership groups: one of the gates, one in which gates watch managers, and one for each datacenter, numbered from
// here.
inline constexpr std::uint64_t kGateGroup = 1;
inline constexpr std::uint64_t kFarGroup = 2;
inline constexpr std::uint64_t kFirstPlaceGroup = 10;
// A node tells its state at least this often.
inline constexpr base::Duration kStateEvery = std::chrono::milliseconds(500);

// What all processes of one world share; outlives them.
struct ClusterShared {
  ClusterShared(Kernel& the_kernel, const ClusterSetup& the_setup);

  // Whether leases can be held to true time: any gate whose clock strays may move one too early.
  bool gates_keep_time() const;

  Kernel& kernel;
  const ClusterSetup setup;
  const ClusterMap map;
  ClusterRuns runs;
  ClusterLog log;
  ClusterTalk talk;
  ClusterResources resources;
  ClusterLeases leases;
  ClusterLimits limits;
  ClusterEchoes echoes;
  RaftOracle gates;
  std::vector<std::unique_ptr<RaftOracle>> managers;  // by datacenter
};

class ClusterProcess : public Process {
 public:
  explicit ClusterProcess(ClusterShared& shared) : shared_(&shared) {}

  void start(Host& host) final;
  void receive(Host& host, const Packet& packet) final;
  void wake(Host& host) final;
  void written(Host& host, WriteTicket ticket, bool ok) final;
  void closed(Host& host, Address peer) final;

  bool running() const { return running_; }
  // Does something to the brain in a turn of its own.
  template <class Action>
  void act(Host& host, Action&& action) {
    if (!running_) return;
    action();
    settle(host);
  }

 protected:
  enum class Frame : char { kMessage = 'M', kRaft = 'R', kNear = 'N', kFar = 'F' };

  // False if the node cannot start; it has halted then.
  virtual bool begin(Host& host) = 0;
  virtual void on_message(Host& host, base::NodeId from, const cluster::Message& message) = 0;
  virtual void on_raft(Host& /*host*/, base::NodeId /*from*/, std::string_view /*bytes*/, bool /*authentic*/) {}
  virtual void on_member(Host& /*host*/, bool /*far*/, base::NodeId /*node*/, cluster::Liveness /*liveness*/,
                         const model::NodeState* /*state*/) {}
  virtual void on_gone(Host& /*host*/, base::NodeId /*peer*/) {}
  virtual void on_body_stored(Host& host, const cluster::BodyHash& hash, bool ok) = 0;
  virtual void on_body_read(Host& host, const cluster::BodyHash& hash, std::optional<std::string> bytes) = 0;
  virtual bool on_written(Host& /*host*/, WriteTicket /*ticket*/, bool /*ok*/) { return false; }
  virtual void on_wake(Host& host) = 0;
  // Carries out what the brains ask, until they ask nothing more.
  virtual void drain(Host& host) = 0;
  virtual base::Instant next() const = 0;
  virtual bool carry_out(Host& /*host*/, cluster::Effect& /*effect*/) { return false; }

  // Carries out what every brain may ask; the rest goes to carry_out().
  void perform(Host& host, cluster::Effects effects);
  void say(Host& host, base::NodeId to, std::string frame);
  // A frame to be filled, with room for most that follow.
  static std::string frame_of(Frame kind);
  void join(Host& host, bool far, std::uint64_t group, const cores::SwimOptions& options,
            std::vector<base::NodeId> seeds, const model::NodeState& state);
  void tell_state(Host& host, const model::NodeState& state);
  std::uint32_t score() const { return near_.core ? near_.core->score() : 0; }
  // Membership holds this node to be of no use: it must step down.
  bool critical(Host& host) const { return near_.core && near_.core->must_step_down(host.now()); }
  std::vector<cluster::BodyRef> bodies_on_disk(Host& host);
  static std::string body_file(const cluster::BodyHash& hash);
  cluster::Process self(Host& host) const { return {host.self(), cluster::Life{host.life() + 1}}; }

  ClusterShared* shared_;

 private:
  struct Membership {
    std::unique_ptr<cores::Swim> core;
    std::vector<base::NodeId> seeds;
    base::Instant resolve_at = base::kNever;
    model::NodeState told;
    base::Instant tell_at{};
  };

  void settle(Host& host);
  void settle(Host& host, Membership& membership, bool far);
  void resolve_seeds(Host& host, Membership& membership);
  void read_bodies(Host& host);
  void tell_lag(Host& host);

  bool running_ = false;
  Membership near_;
  Membership far_;
  struct Known {
    base::NodeId node;
    Address address;
  };

  void know(base::NodeId node, Address address);
  // Where the node stands, or would.
  std::vector<Known>::iterator place_of(base::NodeId node);

  std::vector<Known> addresses_;  // ascending by node
  std::map<WriteTicket, cluster::BodyHash> storing_;
  std::map<WriteTicket, cluster::BodyHash> dropping_;
  std::deque<std::pair<base::Instant, cluster::BodyRef>> reading_;
  base::Instant armed_ = base::kNever;
  base::Duration lag_{};  // the worst since it was told
  base::Instant lag_due_{};
};

}  // namespace muster::sim
