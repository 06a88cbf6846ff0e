// For tests of Raft: one node with its disk and its state machine. The disk takes its time, and a crash loses what was
// not durable, or all but a part of it. Writes go through their bytes.
#pragma once

#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cores/raft.h"
#include "cores/raft_history.h"
#include "cores/raft_journal.h"

namespace muster::cores {

class RaftMachine {
 public:
  bool founder = false;
  bool stalled = false;    // the disk gets nothing done
  std::uint64_t life = 0;  // rises with every crash
  std::unique_ptr<Raft> raft;
  RaftTestState state;
  std::map<RaftRequest, RaftAnswer> answers;

  void start(base::NodeId self, const RaftOptions& options, std::uint64_t seed, const RaftImage& founding,
             base::Instant now) {
    auto recovered = recover_raft_journal(file_);
    if (!recovered) std::abort();
    file_.resize(recovered->valid_bytes);
    journal_ = RaftJournal(recovered->next);
    pending_.clear();
    held_.clear();
    answers.clear();
    durable_ = 0;
    state = {};
    stalled = false;
    RaftImage image = file_.empty() && founder ? founding : std::move(recovered->image);
    raft = std::make_unique<Raft>(self, options, seed + life, std::move(image), now);
  }

  // The disk may have got any part of what it was given.
  void crash(base::Random& random) {
    std::string lost;
    for (const Pending& pending : pending_) lost += pending.bytes;
    file_ += lost.substr(0, static_cast<std::size_t>(random.below(lost.size() + 1)));
    raft.reset();
    ++life;
  }

  void stop() { held_.clear(); }  // what waits for the disk is never sent

  // True if the disk was idle and has something to do now.
  bool write(std::vector<RaftWrite> writes) {
    const bool idle = pending_.empty();
    for (RaftWrite& write : writes) {
      std::string bytes = journal_.record(write);
      pending_.push_back({std::move(write), std::move(bytes)});
    }
    return idle && busy();
  }
  bool busy() const { return !pending_.empty() && !stalled; }

  // The oldest write becomes durable; a checkpoint sometimes in a file of its own.
  RaftWrite written(base::Random& random) {
    Pending pending = std::move(pending_.front());
    pending_.pop_front();
    const bool checkpoint = std::holds_alternative<RaftCheckpoint>(pending.write.body);
    if (checkpoint && random.below(2) == 0) file_.clear();
    file_ += pending.bytes;
    durable_ = pending.write.ticket;
    journal_.persisted(durable_);
    return std::move(pending.write);
  }

  // Those of the sends, and of earlier ones, that need not wait any more.
  std::vector<RaftSend> sendable(std::vector<RaftSend> sends) {
    for (RaftSend& send : sends) held_.push_back(std::move(send));
    std::vector<RaftSend> ready;
    for (RaftSend& send : std::exchange(held_, {})) {
      (send.after > durable_ ? held_ : ready).push_back(std::move(send));
    }
    return ready;
  }

  std::string describe() const {
    if (!raft) return "down";
    const RaftLog& log = raft->log();
    std::string text = fmt::format(
        "role {} term {} vote {} leader {} log {}..{} (term {}, durable {}) commit {} voters",
        static_cast<int>(raft->role()), raft->term(), base::number(raft->vote()), base::number(raft->leader()),
        log.first(), log.last(), log.last_term(), log.durable(), raft->commit());
    for (const base::NodeId voter : log.members().voters) text += fmt::format(" {}", base::number(voter));
    text += fmt::format(" since {}, learners", log.members_index());
    for (const base::NodeId learner : log.members().learners) text += fmt::format(" {}", base::number(learner));
    return text;
  }

 private:
  struct Pending {
    RaftWrite write;
    std::string bytes;
  };

  RaftJournal journal_;
  std::string file_;
  std::deque<Pending> pending_;
  std::vector<RaftSend> held_;
  RaftTicket durable_ = 0;
};

}  // namespace muster::cores
