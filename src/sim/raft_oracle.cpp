#include "sim/raft_oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <variant>

namespace muster::sim {

using cores::RaftIndex;
using cores::RaftTerm;

namespace {

std::string names_of(const std::vector<base::NodeId>& nodes) {
  std::string names;
  for (const base::NodeId node : nodes)
    names.append(names.empty() ? "" : " ").append(fmt::to_string(base::number(node)));
  return names.empty() ? "none" : names;
}

}  // namespace

std::size_t quorum_of(const cores::RaftMembers& members) {
  return members.voters.size() / 2 + 1;
}

std::uint64_t digest_of(const cores::RaftEntry& entry) {
  std::uint64_t digest =
      base::mix(entry.index ^ base::mix(entry.term ^ base::mix(static_cast<std::uint64_t>(entry.kind))));
  for (const char c : entry.command) digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  for (const base::NodeId node : entry.members.voters) digest = base::mix(digest ^ base::number(node));
  for (const base::NodeId node : entry.members.learners) digest = base::mix(digest ^ ~base::number(node));
  return base::mix(digest);
}

std::uint64_t RaftOracle::operation_of(const cores::RaftEntry& entry) {
  std::uint64_t operation = 0;
  if (entry.kind == cores::RaftEntryKind::kCommand && entry.command.size() >= sizeof operation)
    std::memcpy(&operation, entry.command.data(), sizeof operation);
  return operation;
}

void RaftOracle::founded(std::vector<base::NodeId> voters) {
  committed_members_ = {.voters = std::move(voters), .learners = {}};
  configurations_[0] = committed_members_;
}

void RaftOracle::recovered(base::NodeId node, const cores::RaftImage& image) {
  const std::uint64_t name = base::number(node);
  ++lives_[node];
  seen_.erase(node);
  down_since_.erase(node);
  if (image.hard.term < spoken_[node])
    kernel_->violate(
        "2", fmt::format("node {} spoke in term {} and starts again in term {}", name, spoken_[node], image.hard.term));
  const auto given = votes_.find({node, image.hard.term});
  if (given != votes_.end() && given->second != image.hard.vote)
    kernel_->violate("2", fmt::format("node {} voted for node {} in term {} and starts again with a vote for {}", name,
                                      base::number(given->second), image.hard.term, base::number(image.hard.vote)));
  Durable now;
  now.hard = image.hard;
  now.base = image.snapshot.index;
  for (const cores::RaftEntry& entry : image.entries) now.terms.push_back(entry.term);
  Durable& before = disks_[node];
  keep_promises(node, before, image.hard);
  check_lost(node, before, now);
  before = std::move(now);
}

void RaftOracle::durable(base::NodeId node, const cores::RaftWrite& write) {
  Durable& disk = disks_[node];
  if (const auto* hard = std::get_if<cores::RaftHardState>(&write.body)) {
    keep_promises(node, disk, *hard);
  } else if (const auto* truncate = std::get_if<cores::RaftTruncate>(&write.body)) {
    // A leader of an earlier term may still undo what a later one has committed elsewhere.
    const bool owed = truncate->from <= committed() && truncate->from <= disk.last() &&
                      disk.hard.term >= log_[truncate->from - 1].by &&
                      disk.holds(truncate->from, log_[truncate->from - 1].term);
    if (owed)
      kernel_->violate(
          "log-kept", fmt::format("node {} cuts off entry {}, which is committed", base::number(node), truncate->from));
    while (disk.last() >= truncate->from && !disk.terms.empty()) disk.terms.pop_back();
    kernel_->hit("tail cut off");
  } else if (const auto* append = std::get_if<cores::RaftAppendWrite>(&write.body)) {
    for (const cores::RaftEntry& entry : append->entries) {
      if (entry.index != disk.last() + 1) {
        kernel_->violate("log-kept", fmt::format("node {} appends entry {} behind {}", base::number(node), entry.index,
                                                 disk.last()));
        return;
      }
      disk.terms.push_back(entry.term);
    }
  } else {
    const cores::RaftImage& image = std::get<cores::RaftCheckpoint>(write.body).image;
    keep_promises(node, disk, image.hard);
    check_snapshot(node, image.snapshot);
    Durable now{.hard = image.hard, .base = image.snapshot.index, .terms = {}};
    for (const cores::RaftEntry& entry : image.entries) now.terms.push_back(entry.term);
    check_lost(node, disk, now);
    disk = std::move(now);
  }
}

void RaftOracle::leaves(base::NodeId from, base::NodeId to, const cores::RaftMessage& message) {
  RaftTerm& spoken = spoken_[from];
  spoken = std::max(spoken, message.term);
  highest_term_ = std::max(highest_term_, message.term);
  if (disks_[from].hard.term < message.term)
    kernel_->violate(
        "2", fmt::format("node {} speaks in term {} before that is on its disk", base::number(from), message.term));
  if (const auto* reply = std::get_if<cores::RaftVoteReply>(&message.body)) {
    if (reply->granted && !reply->pre) vote(from, reply->asked, to);
    if (!reply->granted) kernel_->hit("vote refused");
  } else if (const auto* request = std::get_if<cores::RaftVoteRequest>(&message.body)) {
    if (request->pre) return;
    vote(from, request->asked, from);
    std::set<base::NodeId>& candidates = candidates_[request->asked];
    if (candidates.insert(from).second && candidates.size() == 2) kernel_->hit("split vote");
  } else if (const auto* append = std::get_if<cores::RaftAppend>(&message.body)) {
    offers(message.term, *append);
  } else if (const auto* stored = std::get_if<cores::RaftAppendReply>(&message.body)) {
    const auto sent = message.term == offered_in_ ? offered_.find(stored->index) : offered_.end();
    if (stored->accepted)
      check_claim(from, stored->index, sent == offered_.end() ? std::nullopt : std::optional(sent->second));
  } else if (const auto* installed = std::get_if<cores::RaftSnapshotReply>(&message.body)) {
    const bool known = installed->index > 0 && installed->index <= committed();
    if (installed->done)
      check_claim(from, installed->index, known ? std::optional(log_[installed->index - 1].term) : std::nullopt);
  } else if (std::holds_alternative<cores::RaftLoan>(message.body)) {
    kernel_->hit("entries lent to a candidate");
  }
}

void RaftOracle::applied(base::NodeId node, const cores::Raft& raft, const cores::RaftEntry& entry,
                         std::uint64_t state) {
  const std::uint64_t name = base::number(node);
  if (entry.index > committed() + 1) {
    kernel_->violate("log-kept", fmt::format("node {} applies entry {} while only {} are committed anywhere", name,
                                             entry.index, committed()));
    return;
  }
  const std::uint64_t digest = digest_of(entry);
  if (entry.index == committed() + 1) {
    if (unchecked_ == 0) unchecked_ = entry.index;
    log_.push_back(
        {.term = entry.term, .by = raft.term(), .digest = digest, .operation = operation_of(entry), .state = state});
    if (entry.kind == cores::RaftEntryKind::kMembers) {
      committed_members_ = entry.members;
      committed_members_index_ = entry.index;
      configurations_[entry.index] = entry.members;
      kernel_->trace("entry {} is committed: voters {}, learners {}", entry.index, names_of(entry.members.voters),
                     names_of(entry.members.learners));
    }
    return;
  }
  const Committed& known = log_[entry.index - 1];
  if (known.digest != digest)
    kernel_->violate("log-kept",
                     fmt::format("node {} applies an entry of term {} at {}, where one of term {} is committed", name,
                                 entry.term, entry.index, known.term));
  if (known.state != state)
    kernel_->violate("log-equal",
                     fmt::format("node {} has another state than others after entry {}", name, entry.index));
}

void RaftOracle::installed(base::NodeId node, const cores::RaftSnapshot& snapshot, std::uint64_t state) {
  const RaftIndex index = snapshot.index;
  if (index > 0 && (index > committed() || log_[index - 1].state != state))
    kernel_->violate("log-equal",
                     fmt::format("node {} takes over a state at entry {} that nobody had", base::number(node), index));
  check_snapshot(node, snapshot);
}

void RaftOracle::applied_all(base::NodeId node, const cores::Raft& raft) {
  if (unchecked_ == 0) return;
  unchecked_ = 0;
  const cores::RaftMembers& members = in_force(node, raft);
  if (holders(members, committed()) < quorum_of(members))
    kernel_->violate("6", fmt::format("node {} commits entry {} that is on {} disks of {} members", base::number(node),
                                      committed(), holders(members, committed()), members.voters.size()));
  const RaftTerm term = log_.back().term;
  if (term != raft.term())
    kernel_->violate("log-kept", fmt::format("node {} in term {} commits up to entry {} of term {} by counting",
                                             base::number(node), raft.term(), committed(), term));
}

void RaftOracle::acknowledged(base::NodeId node, const cores::Raft& raft, std::uint64_t op, RaftIndex index) {
  ++acknowledgements_;
  const cores::RaftMembers& members = in_force(node, raft);
  acknowledged_ = std::max(acknowledged_, index);
  if (index == 0 || index > committed() || log_[index - 1].operation != op) {
    kernel_->violate("log-acknowledged",
                     fmt::format("node {} says that operation {} is committed at {}, where it is not",
                                 base::number(node), op, index));
  } else if (holders(members, index) < quorum_of(members)) {
    kernel_->violate("5",
                     fmt::format("node {} acknowledges entry {}, which a minority holds", base::number(node), index));
  }
}

void RaftOracle::read_ready(base::NodeId node, RaftIndex floor, RaftIndex index) {
  kernel_->hit("read answered");
  if (index < floor)
    kernel_->violate("log-read", fmt::format("node {} reads at entry {}; entry {} was acknowledged before",
                                             base::number(node), index, floor));
}

void RaftOracle::observe(base::NodeId node, const cores::Raft& raft) {
  Seen& seen = seen_[node];
  // An entry may be replaced by another at the same index.
  if (raft.log().members_index() != seen.members_index || raft.members() != seen.members)
    members_moved(node, raft, seen);
  if (raft.leads()) {
    if (raft.members() != in_force(node, raft))
      kernel_->violate("6", fmt::format("node {} leads and counts {} voters; its log names {}", base::number(node),
                                        raft.members().voters.size(), in_force(node, raft).voters.size()));
    check_matches(node, raft);
    if (raft.members_committed() && !raft.members().is_voter(node))
      kernel_->violate("raft-members",
                       fmt::format("node {} leads though its removal is committed", base::number(node)));
  }
  if (seen.role == raft.role() && seen.term == raft.term()) return;
  if (seen.role == cores::RaftRole::kLeader && !raft.leads()) kernel_->hit("leader stepped down");
  seen.role = raft.role();
  seen.term = raft.term();
  if (raft.leads()) became_leader(node, raft);
}

bool RaftOracle::may_belong(base::NodeId node, RaftIndex commit) const {
  const auto in_force = std::prev(configurations_.upper_bound(commit));
  for (auto each = in_force; each != configurations_.end(); ++each)
    if (each->second.contains(node)) return true;
  for (auto each = members_seen_.lower_bound(in_force->first); each != members_seen_.end(); ++each)
    if (std::ranges::any_of(each->second, [node](const auto& members) { return members.contains(node); })) return true;
  return false;
}

base::Duration RaftOracle::down_for(base::NodeId node) const {
  const auto found = down_since_.find(node);
  return found == down_since_.end() ? base::Duration::zero() : kernel_->elapsed() - found->second;
}

std::vector<cores::RaftMembers> RaftOracle::possible_members() const {
  std::vector<cores::RaftMembers> all = {committed_members_};
  for (auto each = members_seen_.upper_bound(committed_members_index_); each != members_seen_.end(); ++each)
    all.insert(all.end(), each->second.begin(), each->second.end());
  return all;
}

const cores::RaftMembers& RaftOracle::members_at(RaftIndex index) const {
  return std::prev(configurations_.upper_bound(index))->second;
}

void RaftOracle::keep_promises(base::NodeId node, Durable& disk, const cores::RaftHardState& hard) {
  const bool fallen = hard.term < disk.hard.term;
  const bool changed = hard.term == disk.hard.term && disk.hard.vote != base::kNoNode && hard.vote != disk.hard.vote;
  if (fallen || changed)
    kernel_->violate("2", fmt::format("node {} has term {} with a vote for {} on disk after term {} with one for {}",
                                      base::number(node), hard.term, base::number(hard.vote), disk.hard.term,
                                      base::number(disk.hard.vote)));
  disk.hard = hard;
}

// What a checkpoint or a restart makes of a disk. Only in a term before the one that committed an entry may the entry
// be undone: by a leader that has none of it.
void RaftOracle::check_lost(base::NodeId node, const Durable& before, const Durable& now) {
  const RaftIndex last = std::min<RaftIndex>(before.last(), committed());
  for (RaftIndex index = std::max(before.base, now.base) + 1; index <= last; ++index) {
    const Committed& known = log_[index - 1];
    if (now.hard.term < known.by || !before.holds(index, known.term) || now.holds(index, known.term)) continue;
    kernel_->violate("log-kept", fmt::format("node {} had entry {} on disk, which is committed, and has it no more",
                                             base::number(node), index));
    return;
  }
}

void RaftOracle::vote(base::NodeId voter, RaftTerm term, base::NodeId candidate) {
  const auto [given, fresh] = votes_.try_emplace(std::pair(voter, term), candidate);
  if (!fresh && given->second != candidate)
    kernel_->violate("2", fmt::format("node {} votes for node {} in term {} after it voted for node {}",
                                      base::number(voter), base::number(candidate), term, base::number(given->second)));
  // Not only the term: a vote that a crash can undo may be given twice.
  const cores::RaftHardState& hard = disks_[voter].hard;
  if (hard.term < term || (hard.term == term && hard.vote != candidate))
    kernel_->violate("2", fmt::format("node {} votes for node {} in term {} before that is on its disk",
                                      base::number(voter), base::number(candidate), term));
}

// A leader changes nothing that it has in its term, so that the first time it sends an entry says which it is.
void RaftOracle::offers(RaftTerm term, const cores::RaftAppend& append) {
  if (term < offered_in_) return;
  if (term > offered_in_) offered_.clear();
  offered_in_ = term;
  if (append.prev_index > 0) offered_.try_emplace(append.prev_index, append.prev_term);
  for (const cores::RaftEntry& entry : append.entries) offered_.try_emplace(offered_.end(), entry.index, entry.term);
}

// What an answer says to be durable is so when it leaves, and not only when it arrives.
void RaftOracle::check_claim(base::NodeId node, RaftIndex index, std::optional<RaftTerm> term) {
  const Durable& disk = disks_[node];
  const bool there = term ? disk.holds(index, *term) : index <= disk.last();
  if (!there)
    kernel_->violate("log-kept", fmt::format("node {} answers that entry {} is on its disk, which holds {} entries{}",
                                             base::number(node), index, disk.last(),
                                             index <= disk.last() ? ", but another one there" : ""));
}

void RaftOracle::became_leader(base::NodeId node, const cores::Raft& raft) {
  kernel_->hit("leader elected");
  if (raft.log().term_at(raft.commit() + 1).value_or(raft.term()) < raft.term()) {
    kernel_->hit("leader began with entries of an older term");
  }
  const std::uint64_t name = base::number(node);
  const auto [known, fresh] = leaders_.try_emplace(raft.term(), node, lives_[node]);
  if (!fresh && known->second != std::pair(node, lives_[node]))
    kernel_->violate("1", fmt::format("node {} leads in term {}, and so does node {}", name, raft.term(),
                                      base::number(known->second.first)));
  const cores::RaftMembers& members = in_force(node, raft);
  std::size_t votes = 0;
  for (const base::NodeId voter : members.voters) {
    const auto given = votes_.find({voter, raft.term()});
    const bool own = voter == node && disks_[node].hard == cores::RaftHardState{raft.term(), node};
    if (own || (voter != node && given != votes_.end() && given->second == node)) ++votes;
  }
  if (votes < quorum_of(members))
    kernel_->violate("3", fmt::format("node {} leads in term {} with {} votes of {} members", name, raft.term(), votes,
                                      members.voters.size()));
  check_complete(node, raft);
}

// A leader changes one voter at a time, and only once its last change is committed.
void RaftOracle::members_moved(base::NodeId node, const cores::Raft& raft, Seen& seen) {
  const RaftIndex index = raft.log().members_index();
  const cores::RaftMembers& members = raft.members();
  if (index < seen.members_index) kernel_->hit("configuration undone");
  if (index > seen.members_index && raft.leads() && seen.role == cores::RaftRole::kLeader && seen.term == raft.term()) {
    std::vector<base::NodeId> moved;
    std::ranges::set_symmetric_difference(members.voters, seen.members.voters, std::back_inserter(moved));
    if (moved.size() > 1 || seen.members_index > raft.commit())
      kernel_->violate("raft-members",
                       fmt::format("node {} changes {} voters at entry {}; its last change, at {}, is {}",
                                   base::number(node), moved.size(), index, seen.members_index,
                                   seen.members_index > raft.commit() ? "not committed" : "committed"));
  }
  seen.members_index = index;
  seen.members = members;
  std::vector<cores::RaftMembers>& known = members_seen_[index];
  if (std::ranges::find(known, members) == known.end()) known.push_back(members);
}

// What a leader believes of others' disks is so, as long as they have not gone on to a later term, whose leader may
// have undone it.
void RaftOracle::check_matches(base::NodeId node, const cores::Raft& raft) {
  for (const base::NodeId member : in_force(node, raft).voters) {
    const RaftIndex match = member == node ? 0 : raft.match_of(member).value_or(0);
    const auto term = raft.log().term_at(match);
    if (match == 0 || !term) continue;
    const Durable& disk = disks_[member];
    if (disk.hard.term <= raft.term() && !disk.holds(match, *term))
      kernel_->violate("log-kept", fmt::format("node {} believes that node {} has entry {} on disk", base::number(node),
                                               base::number(member), match));
  }
}

// A snapshot tells the configuration that was in force at its entry.
void RaftOracle::check_snapshot(base::NodeId node, const cores::RaftSnapshot& snapshot) {
  if (snapshot.index == 0) return;
  if (snapshot.index > committed() || snapshot.term != log_[snapshot.index - 1].term) {
    kernel_->violate("log-equal", fmt::format("node {} has a snapshot at entry {} of term {}, which nobody committed",
                                              base::number(node), snapshot.index, snapshot.term));
    return;
  }
  if (snapshot.members != members_at(snapshot.index))
    kernel_->violate("log-equal",
                     fmt::format("node {} has a snapshot at entry {} with other members than were in force",
                                 base::number(node), snapshot.index));
}

// A leader holds all that was committed in terms before its own. One that is elected late may lack what is later.
void RaftOracle::check_complete(base::NodeId node, const cores::Raft& raft) {
  const cores::RaftLog& log = raft.log();
  RaftIndex owed = committed();
  while (owed > 0 && log_[owed - 1].by >= raft.term()) --owed;
  if (log.last() < owed) {
    kernel_->violate("log-kept", fmt::format("node {} leads in term {} with {} entries; {} were committed before",
                                             base::number(node), raft.term(), log.last(), owed));
    return;
  }
  for (RaftIndex index = log.first(); index <= owed; ++index) {
    if (digest_of(log.at(index)) == log_[index - 1].digest) continue;
    kernel_->violate("log-kept",
                     fmt::format("node {} leads in term {} with an entry at {} that is not the committed one",
                                 base::number(node), raft.term(), index));
    return;
  }
}

// A node that leads changes nothing behind it, so that in one term only what is new must be read.
const cores::RaftMembers& RaftOracle::in_force(base::NodeId node, const cores::Raft& raft) {
  Seen& seen = seen_[node];
  const cores::RaftLog& log = raft.log();
  if (seen.read_in != raft.term() || seen.read_to > log.last() || seen.read_to + 1 < log.first()) {
    seen.in_force = std::prev(configurations_.upper_bound(log.first() - 1))->second;
    seen.read_to = log.first() - 1;
    seen.read_in = raft.term();
  }
  while (seen.read_to < log.last()) {
    const cores::RaftEntry& entry = log.at(++seen.read_to);
    if (entry.kind == cores::RaftEntryKind::kMembers) seen.in_force = entry.members;
  }
  return seen.in_force;
}

std::size_t RaftOracle::holders(const cores::RaftMembers& members, RaftIndex index) const {
  std::size_t count = 0;
  for (const base::NodeId voter : members.voters) {
    const auto disk = disks_.find(voter);
    if (disk != disks_.end() && disk->second.holds(index, log_[index - 1].term)) ++count;
  }
  return count;
}

}  // namespace muster::sim
