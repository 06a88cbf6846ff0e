// What one gate has asked the gates' log for and not yet seen applied. Proposals go to the log's leader, again and
// again until applied or given up: whoever still wants the thing then asks anew, which is harmless, as commands are
// idempotent. One proposal about one thing at a time. Owned by the gate.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cluster/effects.h"
#include "cluster/gate_commands.h"
#include "cluster/gate_options.h"
#include "cluster/proposals.h"
#include "resilience/circuit.h"

namespace muster::cluster {

// What a command is about: two proposals with one subject would race each other.
Subject subject_of(const GateCommand& command);

class GateProposals {
 public:
  GateProposals(Process self, const GateOptions& options) : self_(self), options_(options) {}

  // To be told before anything else; what waits is sent to a new leader at once.
  void standing(const LogStanding& standing, base::Instant now, Effects& effects);
  const LogStanding& standing() const { return standing_; }

  // Its sequence; nothing if one about the same subject is under way or there are too many.
  std::optional<std::uint64_t> propose(GateCommand command, base::Instant now, Effects& effects);
  bool under_way(const Subject& subject) const { return subjects_.contains(subject); }

  // Own entries that were applied leave. Whether it was still waited for.
  bool applied(const GateEntry& entry, base::Instant now);

  // Sends again what is due; gives back what timed out, whose outcome is open.
  std::vector<GateCommand> wake(base::Instant now, Effects& effects);
  base::Instant deadline() const { return due_.empty() ? base::kNever : due_.begin()->first; }

  // Of the quorum's circuit: to be asked before something new is begun for a client. Half-open it takes the place of a
  // trial; whoever only wants to know how things are asks circuit_closed().
  bool allow(base::Instant now) { return circuit_.allow(now); }
  bool circuit_closed(base::Instant now) const { return circuit_.would_allow(now); }
  const resilience::Circuit& circuit() const { return circuit_; }
  std::size_t size() const { return waiting_.size(); }

 private:
  struct Waiting {
    Subject subject;
    GateEntry entry;
    base::Instant give_up{};
    base::Instant due{};
  };
  using Table = std::map<std::uint64_t, Waiting>;

  void send(Waiting& waiting, base::Instant now, Effects& effects);
  void remove(Table::iterator at);

  Process self_;
  GateOptions options_;
  LogStanding standing_;
  std::uint64_t last_ = 0;
  Table waiting_;
  std::set<Subject> subjects_;
  std::set<std::pair<base::Instant, std::uint64_t>> due_;
  resilience::Circuit circuit_;
};

}  // namespace muster::cluster
