// The shell of a simulated worker: its brain, and executors that take virtual time, count, and now and then crash, hang
// or turn a deaf ear. They die with the process, as real ones would.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "cluster/worker.h"
#include "sim/cluster_process.h"
#include "sim/cluster_program.h"

namespace muster::sim {

class WorkerProcess final : public ClusterProcess {
 public:
  using ClusterProcess::ClusterProcess;

  cluster::Worker& brain() { return *brain_; }
  const cluster::Worker& brain() const { return *brain_; }
  bool draining() const { return draining_; }
  base::Instant asked() const { return asked_; }  // its managers for the last time whether they are there
  // Members are told at once.
  void drain_out() { draining_ = true, health_due_ = {}; }

 protected:
  bool begin(Host& host) override;
  void on_message(Host& host, base::NodeId from, const cluster::Message& message) override;
  void on_body_stored(Host& host, const cluster::BodyHash& hash, bool ok) override;
  void on_body_read(Host& host, const cluster::BodyHash& hash, std::optional<std::string> bytes) override;
  void on_wake(Host& host) override;
  void drain(Host& host) override;
  base::Instant next() const override;
  bool carry_out(Host& host, cluster::Effect& effect) override;

 private:
  struct Executor {
    cluster::Slice slice;
    std::vector<std::uint32_t> cores;  // that it still runs on
    Program program;
    base::Instant began{};
    base::Instant limit = base::kNever;  // of its run time
    base::Instant beat_due{};
    base::Instant stop_due = base::kNever;
    base::Instant ask_due = base::kNever;
    bool killed = false;
    std::uint64_t beat = 0;
    cluster::Counts counts;
  };
  using Key = ClusterRuns::Key;

  void answers(Host& host, const cluster::DispatchAnswer& answer);
  void start_executor(Host& host, const cluster::StartExecutor& order);
  void stop_executor(Host& host, const cluster::StopExecutor& order);
  // False once it has ended.
  bool step(Host& host, const Key& key, Executor& executor);
  // Some finish on one core after the other.
  void leave_cores(Host& host, const Key& key, Executor& executor);
  void end_executor(Host& host, const Key& key, const Executor& executor, std::optional<cluster::PartOutcome> outcome);

  std::optional<cluster::Worker> brain_;
  std::map<Key, Executor> executors_;
  std::optional<cluster::Dispatch> offer_;  // that this turn brought
  bool leaving_ = false;                    // it was to drain, or of no use, when that came
  base::Instant health_due_{};
  base::Instant asked_ = base::Instant::min();
  bool thinks_ = false;  // its brain was asked in this turn
  bool draining_ = false;
  bool critical_ = false;  // as its brain was told last
};

}  // namespace muster::sim
