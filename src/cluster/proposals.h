// What one manager has asked the log for and not yet seen applied. Proposals go to the log's leader, are sent again
// when that changes, and are given up after a time: whoever still wants the thing then asks anew, which is harmless, as
// commands are idempotent. One proposal about one thing at a time. Owned by the manager.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "cluster/commands.h"
#include "cluster/effects.h"
#include "cluster/options.h"
#include "resilience/circuit.h"

namespace muster::cluster {

// What a command is about: two proposals with one subject would race each other.
struct Subject {
  std::size_t kind = 0;
  std::uint64_t id = 0;
  std::uint32_t workflow = 0;
  std::uint32_t part = 0;

  auto operator<=>(const Subject&) const = default;
};
Subject subject_of(const Command& command);

// Where the log stands, as this manager's Raft core knows.
struct LogStanding {
  NodeId leader = kNoNode;
  std::uint64_t term = 0;
  // Whether this node's ledger is known to be current: a leader with a committed entry of its term that has heard from
  // a majority, or a follower that lately had all that such a leader had committed.
  bool caught_up = false;
  std::vector<NodeId> voters;  // ascending

  bool operator==(const LogStanding&) const = default;
};

class Proposals {
 public:
  Proposals(Process self, const ManagerOptions& options) : self_(self), options_(options) {}

  // To be told before anything else; resends if the leader changed.
  void standing(const LogStanding& standing, base::Instant now, Effects& effects);

  // Its sequence; nothing if one about the same subject is under way or there are too many.
  std::optional<std::uint64_t> propose(Command command, base::Instant now, Effects& effects);
  bool under_way(const Subject& subject) const { return subjects_.contains(subject); }

  // Own entries that were applied leave. Whether it was still waited for.
  bool applied(const Entry& entry, base::Instant now);

  // Sends again what is due; gives back what timed out, whose outcome is open.
  struct TimedOut {
    std::uint64_t sequence = 0;
    Command command;
  };
  std::vector<TimedOut> wake(base::Instant now, Effects& effects);
  base::Instant deadline() const;

  // Of the quorum's circuit: to be asked before something new is begun for a client.
  bool allow(base::Instant now) { return circuit_.allow(now); }
  const resilience::Circuit& circuit() const { return circuit_; }
  std::size_t size() const { return waiting_.size(); }

 private:
  struct Waiting {
    Subject subject;
    Entry entry;
    base::Instant give_up{};
    base::Instant due{};
  };
  using Table = std::map<std::uint64_t, Waiting>;

  void send(Waiting& waiting, base::Instant now, Effects& effects);
  void reschedule(std::uint64_t sequence, Waiting& waiting, base::Instant due);
  void remove(Table::iterator at);

  Process self_;
  ManagerOptions options_;
  LogStanding standing_;
  std::uint64_t last_ = 0;
  Table waiting_;
  std::set<Subject> subjects_;
  std::set<std::pair<base::Instant, std::uint64_t>> due_;
  resilience::Circuit circuit_;
};

}  // namespace muster::cluster
