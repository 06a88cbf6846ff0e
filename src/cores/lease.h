// Leases as the log tells of them, seen from one node: which it holds and may act under now, which of its own to renew,
// and which of anybody's have run out. The holder counts from when it SENT the renewal that the log then told of, and
// less for drift; all others count from when they were told, and more. So a lease has ended for its holder before
// anybody may hold it to be over, however long messages take. Ask valid() at the moment of the effect, not before.
//
// A grant by somebody else (a take-over), or one from before a restart, gives no right to act until a renewal of this
// process was told of: nobody here knows when it was sent.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/node_id.h"
#include "base/random.h"
#include "base/time.h"
#include "cores/lease_options.h"

namespace muster::cores {

// Names one proposal to grant or renew, unique over all lives. The log keeps the last one of each lease and refuses an
// expiry that names another: a renewal came first.
enum class RenewalId : std::uint64_t {};

// Key is ordered: a job, or a job and a datacenter.
template <class Key>
class LeaseTable {
 public:
  struct Lease {
    Key key{};
    base::NodeId holder = base::kNoNode;
    std::uint64_t epoch = 0;
    RenewalId renewal{};  // in a renewal: that to propose; in an expiry: the last one told of
  };

  LeaseTable(base::NodeId self, std::uint64_t seed, const LeaseOptions& options = {})
      : self_(self), random_(seed), options_(options) {}

  // This node is about to propose that the lease be granted to itself: the id for the command. The lease counts from
  // now. Nothing if the table is full.
  std::optional<RenewalId> propose(const Key& key, base::Instant now) {
    if (!entries_.contains(key) && entries_.size() >= options_.max_leases) return std::nullopt;
    Entry& entry = entries_[key];
    const RenewalId id = sent(entry, now);
    // What the log does not tell of is forgotten when it could not be valid any more.
    if (entry.holder == base::kNoNode) schedule(key, entry, now + options_.length);
    return id;
  }

  // ---- what the log tells, when it is applied ----

  // Epochs of a key rise; an older one is ignored. False if the table is full.
  bool granted(const Key& key, base::NodeId holder, std::uint64_t epoch, RenewalId id, base::Instant now) {
    if (!entries_.contains(key) && entries_.size() >= options_.max_leases) return false;
    Entry& entry = entries_[key];
    if (entry.holder != base::kNoNode && epoch <= entry.epoch) return true;
    entry.holder = holder;
    entry.epoch = epoch;
    entry.given_up = false;
    entry.valid_until = base::Instant::min();
    entry.renew_at = holder == self_ ? now : base::kNever;
    told(key, entry, id, now);
    return true;
  }

  void renewed(const Key& key, std::uint64_t epoch, RenewalId id, base::Instant now) {
    const auto found = entries_.find(key);
    if (found == entries_.end() || found->second.holder == base::kNoNode || found->second.epoch != epoch) return;
    told(key, found->second, id, now);
  }

  // Expired, handed back, or its job has ended.
  void ended(const Key& key) {
    if (const auto found = entries_.find(key); found != entries_.end()) erase(found);
  }

  // ---- what this node may do, and what it has to ----

  // The epoch under which this node may act, if it may at this moment.
  std::optional<std::uint64_t> valid(const Key& key, base::Instant now) const {
    const auto found = entries_.find(key);
    if (found == entries_.end() || found->second.holder != self_ || found->second.given_up) return {};
    return now < found->second.valid_until ? std::optional(found->second.epoch) : std::nullopt;
  }

  // Before this node proposes that another get the lease: from now on it does not act under it.
  void give_up(const Key& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end() || found->second.holder != self_) return;
    found->second.given_up = true;
    found->second.renew_at = base::kNever;
    schedule(key, found->second, expires_at(found->second));
  }

  struct Due {
    std::vector<Lease> renew;    // own leases, to be proposed now: they count as sent now
    std::vector<Lease> expired;  // anybody's, for whoever may propose their expiry; others leave them alone
  };

  // To be called at the deadline. What cannot be proposed now stays due.
  Due due(base::Instant now, bool may_renew = true) {
    Due found;
    while (!due_.empty() && due_.begin()->first <= now) {
      const auto at = entries_.find(due_.begin()->second);
      const Key key = at->first;
      Entry& entry = at->second;
      if (entry.holder == base::kNoNode) {
        erase(at);
        continue;
      }
      if (entry.renew_at <= now && may_renew) {
        entry.renew_at = now + options_.renew_every;
        found.renew.push_back({key, entry.holder, entry.epoch, sent(entry, now)});
      }
      if (expires_at(entry) <= now) {
        entry.expiry_told = now;
        found.expired.push_back({key, entry.holder, entry.epoch, entry.last});
      }
      const base::Instant renew_at = entry.renew_at <= now ? now + kLookAgain : entry.renew_at;
      schedule(key, entry, std::min(renew_at, expires_at(entry)));
    }
    return found;
  }

  base::Instant deadline() const { return due_.empty() ? base::kNever : due_.begin()->first; }
  std::size_t size() const { return entries_.size(); }

 private:
  using Pending = std::pair<RenewalId, base::Instant>;  // and when it was sent
  // At what could not be proposed when it was due.
  static constexpr base::Duration kLookAgain = std::chrono::seconds(1);
  struct Entry {
    base::NodeId holder = base::kNoNode;  // kNoNode: only proposed so far
    std::uint64_t epoch = 0;
    RenewalId last{};
    base::Instant told{};  // when `last` was
    base::Instant expiry_told = base::Instant::min();
    base::Instant valid_until = base::Instant::min();  // own leases
    base::Instant renew_at = base::kNever;             // own leases
    base::Instant due = base::kNever;
    bool given_up = false;
    std::uint8_t pending_count = 0;
    std::array<Pending, kMaxPendingRenewals> pending{};  // in the order of sending
  };
  using Entries = std::map<Key, Entry>;

  base::Duration scaled(double factor) const { return base::from_seconds(base::seconds(options_.length) * factor); }

  base::Instant expires_at(const Entry& entry) const {
    const base::Instant over = entry.told + scaled(1 + options_.drift);
    return entry.expiry_told < over ? over : entry.expiry_told + options_.repeat_expiry;
  }

  RenewalId sent(Entry& entry, base::Instant now) {
    if (entry.pending_count == kMaxPendingRenewals) {
      std::move(entry.pending.begin() + 1, entry.pending.end(), entry.pending.begin());
      --entry.pending_count;
    }
    const RenewalId id{random_.next()};
    entry.pending[entry.pending_count++] = {id, now};
    return id;
  }

  void told(const Key& key, Entry& entry, RenewalId id, base::Instant now) {
    entry.last = id;
    entry.told = now;
    const auto end = entry.pending.begin() + entry.pending_count;
    const auto mine = std::find_if(entry.pending.begin(), end, [id](const Pending& made) { return made.first == id; });
    if (entry.holder != self_) {
      entry.pending_count = 0;
    } else if (mine != end) {
      entry.valid_until = std::max(entry.valid_until, mine->second + scaled(1 - options_.drift));
      if (!entry.given_up) entry.renew_at = std::max(entry.renew_at, mine->second + options_.renew_every);
      const auto rest = std::move(mine + 1, end, entry.pending.begin());  // earlier ones prove nothing more
      entry.pending_count = static_cast<std::uint8_t>(rest - entry.pending.begin());
    }
    schedule(key, entry, std::min(entry.renew_at, expires_at(entry)));
  }

  void schedule(const Key& key, Entry& entry, base::Instant at) {
    if (entry.due != base::kNever) due_.erase({entry.due, key});
    entry.due = at;
    if (at != base::kNever) due_.emplace(at, key);
  }

  void erase(typename Entries::iterator at) {
    due_.erase({at->second.due, at->first});
    entries_.erase(at);
  }

  base::NodeId self_;
  base::Random random_;
  LeaseOptions options_;
  Entries entries_;
  std::set<std::pair<base::Instant, Key>> due_;
};

}  // namespace muster::cores
