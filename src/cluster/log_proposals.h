// What one node has asked its log for and not yet seen applied. Proposals go to the log's leader, are sent again when
// that changes, and are given up after a time: whoever still wants the thing then asks anew, which is harmless, as
// commands are idempotent. One proposal about one thing at a time. What a command names must be on a majority's disks
// whenever it is sent, also again: the members may be others by then. For managers and gates alike (proposals.h,
// gate_proposals.h); an entry brings encode() and its command subject_of() and named_by().
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"
#include "cluster/bodies.h"
#include "cluster/effects.h"
#include "cluster/ids.h"
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

// Where the log stands, as this node's Raft core knows.
struct LogStanding {
  NodeId leader = kNoNode;
  std::uint64_t term = 0;
  // Whether this node's ledger is known to be current: a leader with a committed entry of its term that has heard from
  // a majority, or a follower that lately had all that such a leader had committed.
  bool caught_up = false;
  std::vector<NodeId> voters;  // ascending

  // Only then may anything be concluded from the ledger: while it is not, others may long know better.
  bool current() const { return caught_up && leader != kNoNode; }
  bool operator==(const LogStanding&) const = default;
};

template <class Entry, class Options>
class LogProposals {
 public:
  using Command = decltype(Entry::command);

  LogProposals(Process self, const Options& options) : self_(self), options_(options) {}

  // To be told before anything else but the bodies, which must know the voters; resends if the leader changed.
  void standing(const LogStanding& standing, const Bodies& bodies, base::Instant now, Effects& effects);
  const LogStanding& standing() const { return standing_; }

  // Its sequence; nothing if one about the same subject is under way or there are too many. What it names is on a
  // majority's disks.
  std::optional<std::uint64_t> propose(Command command, base::Instant now, Effects& effects);
  bool under_way(const Subject& subject) const { return subjects_.contains(subject); }
  // Those about one kind of thing.
  template <class Kind>
  std::vector<const Kind*> all() const {
    std::vector<const Kind*> found;
    for (const auto& [sequence, waiting] : waiting_) {
      if (const auto* const command = std::get_if<Kind>(&waiting.entry.command)) found.push_back(command);
    }
    return found;
  }

  // Own entries that were applied leave. Whether it was still waited for.
  bool applied(const Entry& entry, base::Instant now);

  // Sends again what is due; gives back what timed out, whose outcome is open.
  struct TimedOut {
    std::uint64_t sequence = 0;
    Command command;
  };
  std::vector<TimedOut> wake(const Bodies& bodies, base::Instant now, Effects& effects);
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
    Entry entry;
    base::Instant give_up{};
    base::Instant due{};
  };
  using Table = std::map<std::uint64_t, Waiting>;

  void send(Waiting& waiting, base::Instant now, Effects& effects);
  void send_again(Waiting& waiting, const Bodies& bodies, base::Instant now, Effects& effects);
  void wait(Waiting& waiting, base::Instant due);
  void remove(typename Table::iterator at);

  Process self_;
  Options options_;
  LogStanding standing_;
  std::uint64_t last_ = 0;
  Table waiting_;
  std::set<Subject> subjects_;
  std::set<std::pair<base::Instant, std::uint64_t>> due_;
  resilience::Circuit circuit_;
};

template <class Entry, class Options>
void LogProposals<Entry, Options>::standing(const LogStanding& standing, const Bodies& bodies, base::Instant now,
                                            Effects& effects) {
  const bool moved = standing.leader != standing_.leader || standing.term != standing_.term;
  standing_ = standing;
  if (!moved || standing.leader == kNoNode) return;
  for (auto& [sequence, waiting] : waiting_) send_again(waiting, bodies, now, effects);
}

template <class Entry, class Options>
std::optional<std::uint64_t> LogProposals<Entry, Options>::propose(Command command, base::Instant now,
                                                                   Effects& effects) {
  const Subject subject = subject_of(command);
  if (waiting_.size() >= kMaxProposals || !subjects_.insert(subject).second) return std::nullopt;
  const std::uint64_t sequence = ++last_;
  Waiting& waiting = waiting_[sequence];
  waiting.subject = subject;
  waiting.entry = {self_, sequence, std::move(command)};
  waiting.give_up = now + options_.quorum_timeout;
  waiting.due = now;
  due_.emplace(now, sequence);
  send(waiting, now, effects);
  return sequence;
}

template <class Entry, class Options>
bool LogProposals<Entry, Options>::applied(const Entry& entry, base::Instant now) {
  if (entry.proposer != self_) return false;
  const auto at = waiting_.find(entry.sequence);
  if (at == waiting_.end()) return false;
  circuit_.succeeded(now);
  remove(at);
  return true;
}

template <class Entry, class Options>
std::vector<typename LogProposals<Entry, Options>::TimedOut> LogProposals<Entry, Options>::wake(const Bodies& bodies,
                                                                                                base::Instant now,
                                                                                                Effects& effects) {
  std::vector<TimedOut> timed_out;
  while (!due_.empty() && due_.begin()->first <= now) {
    const auto at = waiting_.find(due_.begin()->second);
    if (now < at->second.give_up) {
      send_again(at->second, bodies, now, effects);
      continue;
    }
    timed_out.push_back({at->first, std::move(at->second.entry.command)});
    remove(at);
  }
  if (!timed_out.empty()) circuit_.failed(now);
  return timed_out;
}

// What this node's own core has taken is lost only with its leadership, which is told; a message can be lost at any
// time.
template <class Entry, class Options>
void LogProposals<Entry, Options>::send(Waiting& waiting, base::Instant now, Effects& effects) {
  std::string bytes;
  encode(waiting.entry, bytes);
  base::Duration again = options_.repropose;
  if (standing_.leader == self_.node) {
    effects.push_back(Propose{std::move(bytes)});
    again *= 4;
  } else if (standing_.leader != kNoNode) {
    effects.push_back(Send{standing_.leader, Forward{std::move(bytes)}});
  }
  wait(waiting, now + again);
}

// What the members that are left do not hold might be named and be nowhere: it is offered to them first.
template <class Entry, class Options>
void LogProposals<Entry, Options>::send_again(Waiting& waiting, const Bodies& bodies, base::Instant now,
                                              Effects& effects) {
  const auto safe = [&](const BodyRef& body) { return body.size == 0 || bodies.on_majority(body); };
  if (std::ranges::all_of(named_by(waiting.entry.command), safe)) return send(waiting, now, effects);
  wait(waiting, now + options_.repropose);
}

template <class Entry, class Options>
void LogProposals<Entry, Options>::wait(Waiting& waiting, base::Instant due) {
  due_.erase({waiting.due, waiting.entry.sequence});
  waiting.due = std::min(due, waiting.give_up);
  due_.emplace(waiting.due, waiting.entry.sequence);
}

template <class Entry, class Options>
void LogProposals<Entry, Options>::remove(typename Table::iterator at) {
  due_.erase({at->second.due, at->first});
  subjects_.erase(at->second.subject);
  waiting_.erase(at);
}

}  // namespace muster::cluster
