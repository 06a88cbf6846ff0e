// The shells of managers and gates: a brain above a seat at a replicated log, with its journal on the simulated disk.
// Each entry is told to the oracles when it is applied, each message when it leaves.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/gate.h"
#include "cluster/log_seat.h"
#include "cluster/manager.h"
#include "cluster/step_down.h"
#include "sim/cluster_process.h"

namespace muster::sim {

class LoggedProcess : public ClusterProcess {
 public:
  LoggedProcess(ClusterShared& shared, RaftOracle& oracle, cluster::LogSeatOptions options)
      : ClusterProcess(shared), oracle_(&oracle), options_(std::move(options)) {}

  const cores::Raft* raft() const { return seat_ ? &seat_->raft() : nullptr; }
  void change(Host& host, const cores::RaftChange& change);
  void transfer(Host& host, base::NodeId to);

 protected:
  bool begin(Host& host) final;
  void on_raft(Host& host, base::NodeId from, std::string_view bytes, bool authentic) final;
  bool on_written(Host& host, WriteTicket ticket, bool ok) final;
  void on_wake(Host& host) final;
  void drain(Host& host) final;
  base::Instant next() const final;
  bool carry_out(Host& host, cluster::Effect& effect) final;

  // --- of the brain ---
  virtual void make_brain(Host& host) = 0;
  virtual void set_standing(const cluster::LogStanding& standing, base::Instant now) = 0;
  virtual void apply_entry(Host& host, const cores::RaftEntry& entry, bool first) = 0;
  virtual bool restore(std::string_view state, base::Instant now) = 0;
  virtual std::string snapshot() const = 0;
  virtual std::uint64_t digest() const = 0;
  virtual void wake_brain(base::Instant now) = 0;
  virtual cluster::Effects take() = 0;
  virtual base::Instant brain_due() const = 0;
  virtual void settled(Host& /*host*/) {}

  // Hands leadership over where it must. True while it does not lead.
  bool hand_over(Host& host, bool draining);
  // Before every call of the brain.
  void stand(Host& host) { set_standing(seat_->standing(host.now()), host.now()); }

  std::optional<cluster::LogSeat> seat_;

 private:
  bool carry_out_log(Host& host);
  void apply(Host& host, const cores::RaftApply& what);

  RaftOracle* oracle_;
  const cluster::LogSeatOptions options_;
  std::deque<std::pair<WriteTicket, cores::RaftWrite>> writing_;
  std::optional<cluster::StepDown> step_down_;
  bool leads_ = false;  // as the trace was told
};

class ManagerProcess final : public LoggedProcess {
 public:
  ManagerProcess(ClusterShared& shared, base::NodeId node);

  cluster::Manager& brain() { return *brain_; }
  const cluster::Manager& brain() const { return *brain_; }
  bool draining() const { return draining_; }
  void drain_out() { draining_ = true; }

 protected:
  void make_brain(Host& host) override;
  void on_message(Host& host, base::NodeId from, const cluster::Message& message) override;
  void on_member(Host& host, bool far, base::NodeId node, cluster::Liveness liveness,
                 const model::NodeState* state) override;
  void on_body_stored(Host& host, const cluster::BodyHash& hash, bool ok) override;
  void on_body_read(Host& host, const cluster::BodyHash& hash, std::optional<std::string> bytes) override;
  void set_standing(const cluster::LogStanding& standing, base::Instant now) override {
    brain_->standing(standing, now);
  }
  void apply_entry(Host& host, const cores::RaftEntry& entry, bool first) override;
  bool restore(std::string_view state, base::Instant now) override;
  std::string snapshot() const override { return brain_->snapshot(); }
  std::uint64_t digest() const override { return brain_->ledger().digest(); }
  void wake_brain(base::Instant now) override { brain_->wake(now); }
  cluster::Effects take() override;
  base::Instant brain_due() const override { return brain_->deadline(); }
  void settled(Host& host) override;

 private:
  void proposes(const std::string& entry);
  model::NodeState presence(Host& host, const cluster::LogStanding& standing) const;

  base::NodeId self_;
  std::uint32_t place_;
  std::optional<cluster::Manager> brain_;
  std::map<base::NodeId, cluster::NodeRole> roles_;
  base::Instant state_due_{};
  cluster::LogStanding told_;
  bool draining_ = false;
};

class GateProcess final : public LoggedProcess {
 public:
  explicit GateProcess(ClusterShared& shared);

  cluster::Gate& brain() { return *brain_; }
  const cluster::Gate& brain() const { return *brain_; }
  bool draining() const { return draining_; }
  void drain_out() { draining_ = true; }

 protected:
  void make_brain(Host& host) override;
  void on_message(Host& host, base::NodeId from, const cluster::Message& message) override;
  void on_member(Host& host, bool far, base::NodeId node, cluster::Liveness liveness,
                 const model::NodeState* state) override;
  void on_gone(Host& host, base::NodeId peer) override;
  void on_body_stored(Host& host, const cluster::BodyHash& hash, bool ok) override;
  void on_body_read(Host& host, const cluster::BodyHash& hash, std::optional<std::string> bytes) override;
  void set_standing(const cluster::LogStanding& standing, base::Instant now) override {
    brain_->standing(standing, now);
  }
  void apply_entry(Host& host, const cores::RaftEntry& entry, bool first) override;
  bool restore(std::string_view state, base::Instant now) override { return brain_->restored(state, now).has_value(); }
  std::string snapshot() const override { return brain_->snapshot(); }
  std::uint64_t digest() const override { return brain_->ledger().digest(); }
  void wake_brain(base::Instant now) override { brain_->wake(now); }
  cluster::Effects take() override;
  base::Instant brain_due() const override { return brain_->deadline(); }
  void settled(Host& host) override;

 private:
  void check(const cluster::Effects& effects);
  // The datacenters that it has chosen just now.
  void check_choices(const cluster::Effects& effects);
  void proposes(const std::string& entry);

  std::optional<cluster::Gate> brain_;
  base::NodeId self_ = base::kNoNode;
  cluster::Process process_;
  bool turned_ = false;  // it has heard of managers in this turn, perhaps after it chose
  bool draining_ = false;
};

}  // namespace muster::sim
