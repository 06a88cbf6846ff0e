// A simulated node of a Raft group: the real core, codec and journal, a small state machine, and nothing else. What it
// does is told to the oracle at each step.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cores/raft.h"
#include "cores/raft_journal.h"
#include "sim/process.h"
#include "sim/raft_conduct.h"
#include "sim/raft_oracle.h"

namespace muster::sim {

struct RaftProcessOptions {
  cores::RaftOptions raft;
  std::vector<base::NodeId> founders;  // empty for a node that is to be added later
  std::size_t state_bytes = 200;       // a snapshot's, so that it takes several parts
};

class RaftProcess final : public Process {
 public:
  // What a request was about.
  struct Asked {
    enum class Kind : std::uint8_t { kPropose, kRead, kChange, kTransfer };
    Kind kind = Kind::kPropose;
    std::uint64_t operation = 0;
    cores::RaftIndex floor = 0;  // of a read: what was acknowledged when it began
    base::Instant at;            // true time
    cores::RaftChange change{};  // of a change
  };
  using OnAnswer = std::function<void(RaftProcess&, Host&, const Asked&, const cores::RaftAnswer&)>;

  // All outlive the process.
  RaftProcess(const RaftProcessOptions& options, Kernel& kernel, RaftOracle& oracle, const OnAnswer& on_answer)
      : options_(options),
        kernel_(&kernel),
        oracle_(&oracle),
        on_answer_(&on_answer),
        conduct_(kernel, oracle, options.raft) {}

  void start(Host& host) override;
  void receive(Host& host, const Packet& packet) override;
  void wake(Host& host) override;
  void written(Host& host, WriteTicket ticket, bool ok) override;
  void closed(Host& host, Address peer) override;

  void propose(Host& host, std::uint64_t operation, std::size_t bytes);
  void read(Host& host);
  void change(Host& host, const cores::RaftChange& change);
  void transfer(Host& host, base::NodeId to);
  void compact(Host& host);

  const cores::Raft& raft() const { return *raft_; }  // after start()
  bool running() const { return raft_ != nullptr; }
  cores::RaftIndex applied() const { return applied_; }
  const std::map<cores::RaftRequest, Asked>& unanswered() const { return asked_; }

 private:
  void flush(Host& host);
  void send(Host& host, base::NodeId to, const cores::RaftMessage& message);
  void persist(Host& host, const cores::RaftWrite& write);
  void apply(const cores::RaftApply& what);
  void answer(Host& host, const cores::RaftAnswer& answer);
  std::string state() const;

  const RaftProcessOptions options_;
  Kernel* kernel_;
  RaftOracle* oracle_;
  const OnAnswer* on_answer_;
  RaftConduct conduct_;
  std::unique_ptr<cores::Raft> raft_;
  cores::RaftJournal journal_;
  std::deque<std::pair<WriteTicket, cores::RaftWrite>> writing_;
  std::vector<cores::RaftSend> gated_;  // wait until a write is durable
  std::map<base::NodeId, Address> addresses_;
  std::map<cores::RaftRequest, Asked> asked_;
  bool started_ = false;
  cores::RaftIndex applied_ = 0;
  std::uint64_t state_ = 0;  // a hash over all that was applied
};

}  // namespace muster::sim
