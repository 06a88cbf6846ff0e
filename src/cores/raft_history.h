// For tests of Raft: sees what every node of a group does and says where that contradicts what Raft promises. Applied
// entries must be one sequence, each term has one leader, what is answered as committed is there, reads miss nothing.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "cores/raft_effects.h"

namespace muster::cores {

// A state machine that remembers everything: a hash over all entries so far, and the index of the last.
struct RaftTestState {
  RaftIndex index = 0;
  std::uint64_t hash = 0;

  void apply(const RaftEntry& entry) {
    index = entry.index;
    hash = base::mix(hash ^ base::fnv1a(entry.command, entry.term * 31 + static_cast<std::uint64_t>(entry.kind)));
  }
  std::string text() const { return fmt::format("{}:{}", index, hash); }
  bool operator==(const RaftTestState&) const = default;
};

class RaftHistory {
 public:
  void applied(std::uint64_t node, RaftTestState& state, const RaftApply& apply) {
    if (const auto* snapshot = std::get_if<RaftSnapshot>(&apply)) {
      const RaftTestState expected{snapshot->index, hash_at_[snapshot->index]};
      if (snapshot->bytes() != padded(expected)) broken("node {} installs a wrong state at {}", node, snapshot->index);
      state = expected;
      return;
    }
    const auto& entry = std::get<RaftEntry>(apply);
    if (entry.index != state.index + 1) broken("node {} applies {} after {}", node, entry.index, state.index);
    state.apply(entry);
    const auto [known, first] = entries_.emplace(entry.index, entry);
    if (first) {
      hash_at_[entry.index] = state.hash;
    } else if (known->second != entry || hash_at_[entry.index] != state.hash) {
      broken("node {} applies another entry {} than others did", node, entry.index);
    }
  }

  void stands(std::uint64_t node, const RaftStanding& standing) {
    if (standing.role != RaftRole::kLeader) return;
    const auto [known, first] = leaders_.emplace(standing.term, node);
    if (!first && known->second != node) broken("term {} has leaders {} and {}", standing.term, known->second, node);
  }

  // Term and vote as they become durable: neither goes back, over restarts either.
  void keeps(std::uint64_t node, const RaftHardState& hard) {
    RaftHardState& before = hard_[node];
    const bool other = hard.term == before.term && before.vote != base::kNoNode && hard.vote != before.vote;
    if (hard.term < before.term || other) broken("node {} goes back on its vote in term {}", node, before.term);
    before = hard;
  }

  void proposed(std::uint64_t node, RaftRequest request, std::string command) {
    proposals_[{node, request}] = std::move(command);
  }
  void reads(std::uint64_t node, RaftRequest request) { reads_[{node, request}] = acknowledged_; }
  void restarted(std::uint64_t node) {
    std::erase_if(proposals_, [&](const auto& known) { return known.first.first == node; });
    std::erase_if(reads_, [&](const auto& known) { return known.first.first == node; });
  }

  void answered(std::uint64_t node, const RaftAnswer& answer) {
    const auto proposal = proposals_.find({node, answer.request});
    if (answer.outcome == RaftOutcome::kCommitted && proposal != proposals_.end()) {
      const auto entry = entries_.find(answer.index);
      const bool there = entry != entries_.end() && entry->second.command == proposal->second;
      if (!there) broken("node {} answers that {} is committed, and it is not", node, answer.index);
      acknowledged_ = std::max(acknowledged_, answer.index);
      ++committed_;
    }
    const auto read = reads_.find({node, answer.request});
    if (answer.outcome == RaftOutcome::kReadReady && read != reads_.end()) {
      if (answer.index < read->second) broken("node {} reads at {}, {} was known", node, answer.index, read->second);
      ++answered_reads_;
    }
  }

  // Long enough to travel in several parts.
  static std::string padded(const RaftTestState& state) { return state.text() + std::string(300, '.'); }

  const std::vector<std::string>& violations() const { return violations_; }
  RaftIndex acknowledged() const { return acknowledged_; }
  std::uint64_t committed() const { return committed_; }
  std::uint64_t answered_reads() const { return answered_reads_; }
  const std::map<RaftIndex, RaftEntry>& entries() const { return entries_; }
  const std::map<RaftTerm, std::uint64_t>& leaders() const { return leaders_; }

 private:
  template <class... Values>
  void broken(fmt::format_string<Values...> text, Values&&... values) {
    if (violations_.size() < 10) violations_.push_back(fmt::format(text, std::forward<Values>(values)...));
  }

  std::map<RaftIndex, RaftEntry> entries_;
  std::map<RaftIndex, std::uint64_t> hash_at_;
  std::map<RaftTerm, std::uint64_t> leaders_;
  std::map<std::uint64_t, RaftHardState> hard_;
  std::map<std::pair<std::uint64_t, RaftRequest>, std::string> proposals_;
  std::map<std::pair<std::uint64_t, RaftRequest>, RaftIndex> reads_;
  RaftIndex acknowledged_ = 0;
  std::uint64_t committed_ = 0;
  std::uint64_t answered_reads_ = 0;
  std::vector<std::string> violations_;
};

}  // namespace muster::cores
