#include "cluster/log_seat.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "cluster/gate_options.h"
#include "cluster/options.h"
#include "cores/options.h"

namespace muster::cluster {

// Else a ledger could grow so large that its log is never cut again, and fills up.
static_assert(kMaxLedgerBytes <= cores::kRaftMaxSnapshotBytes);
static_assert(kMaxGateLedgerBytes <= cores::kRaftMaxSnapshotBytes);
static_assert(kMaxManagers <= cores::kRaftMaxMembers && kMaxGates <= cores::kRaftMaxMembers);

base::Expected<LogSeat> LogSeat::open(NodeId self, const LogSeatOptions& options, std::string_view journal,
                                      std::uint64_t seed, base::Instant now) {
  std::vector<NodeId> founders = options.founders;
  std::ranges::sort(founders);
  if (founders.size() > cores::kRaftMaxMembers) {
    return base::fail(
        fmt::format("{} founding members; a log is kept by at most {}", founders.size(), cores::kRaftMaxMembers));
  }
  if (std::ranges::adjacent_find(founders) != founders.end()) {
    return base::fail("a founding member is named twice; name each once");
  }
  auto recovered = cores::recover_raft_journal(journal);
  if (!recovered) return std::unexpected(recovered.error());
  LogSeat seat;
  seat.options_ = options;
  seat.valid_bytes_ = recovered->valid_bytes;
  seat.journal_ = cores::RaftJournal(recovered->next);
  cores::RaftImage image = std::move(recovered->image);
  if (recovered->valid_bytes == 0 && !founders.empty()) image = cores::founding_image(std::move(founders));
  seat.snapshot_ = image.snapshot.index;
  seat.raft_ = std::make_unique<cores::Raft>(self, options.raft, seed, std::move(image), now);
  return seat;
}

void LogSeat::persisted(cores::RaftTicket ticket, base::Instant now) {
  durable_ = std::max(durable_, ticket);
  journal_.persisted(ticket);
  raft_->persisted(ticket, now);
  std::vector<cores::RaftSend> waiting;
  for (cores::RaftSend& send : std::exchange(gated_, {})) {
    (send.after <= durable_ ? free_ : waiting).push_back(std::move(send));
  }
  gated_ = std::move(waiting);
}

void LogSeat::failed(base::Instant now) {
  raft_->disk_failed(now);
  gated_.clear();
  free_.clear();
}

void LogSeat::propose(std::string entry, base::Instant now) {
  raft_->propose(std::move(entry), now);
}

cores::RaftRequest LogSeat::change(const cores::RaftChange& change, base::Instant now) {
  return asked_.emplace_back(raft_->change(change, now));
}

cores::RaftRequest LogSeat::transfer(NodeId to, base::Instant now) {
  return asked_.emplace_back(raft_->transfer(to, now));
}

bool LogSeat::compact(std::string state) {
  if (!raft_->compact(applied_, std::move(state))) return false;
  snapshot_ = applied_;
  return true;
}

LogEffects LogSeat::take() {
  LogEffects out;
  out.sends = std::exchange(free_, {});
  cores::RaftEffects effects = raft_->take();
  if (effects.empty()) return out;
  for (cores::RaftWrite& write : effects.writes) {
    std::string bytes = journal_.record(write);
    const bool anew = std::holds_alternative<cores::RaftCheckpoint>(write.body);
    out.writes.push_back({std::move(write), anew, std::move(bytes)});
  }
  const bool all_free = std::ranges::all_of(effects.sends, [&](const auto& send) { return send.after <= durable_; });
  if (all_free && out.sends.empty()) out.sends = std::exchange(effects.sends, {});
  for (cores::RaftSend& send : effects.sends) {
    if (send.after <= durable_) {
      out.sends.push_back(std::move(send));
    } else {
      gated_.push_back(std::move(send));
    }
  }
  for (cores::RaftApply& apply : effects.applies) {
    if (const auto* snapshot = std::get_if<cores::RaftSnapshot>(&apply)) {
      given_ = snapshot->index;
      snapshot_ = snapshot->index;
    } else {
      given_ = std::get<cores::RaftEntry>(apply).index;
    }
    out.applies.push_back(std::move(apply));
  }
  for (const cores::RaftAnswer& answer : effects.answers) {
    if (std::erase(asked_, answer.request) > 0) out.answers.push_back(answer);
  }
  return out;
}

const LogStanding& LogSeat::standing(base::Instant now) {
  // Whoever was current stays so while it applies what comes in; whoever was not has first to apply all that it was
  // given, for any of it may be long known to others.
  const bool same = standing_.leader == raft_->leader() && standing_.term == raft_->term();
  const bool fresh = given_ <= applied_ || (same && standing_.caught_up);
  standing_.leader = raft_->leader();
  standing_.term = raft_->term();
  standing_.caught_up = fresh && raft_->caught_up(now);
  standing_.voters = raft_->members().voters;
  return standing_;
}

}  // namespace muster::cluster
