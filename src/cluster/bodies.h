// The bodies of one manager: which are on its disk, which it must fetch, and on whose disks they are known to be. What
// the ledger names is fetched by every manager that lacks it, whenever it came to lack it; what is pinned (a bundle
// being submitted, a result, a context) is offered to the other voters until a majority holds it. What is neither is
// dropped after a while. Bounded in bytes taken in at once; answers to peers are metered. Owned by the manager.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cluster/effects.h"
#include "cluster/ids.h"
#include "cluster/messages_body.h"
#include "cluster/options.h"
#include "resilience/token_bucket.h"

namespace muster::cluster {

class Bodies {
 public:
  // Managers copy what is pinned to a majority; workers only fetch and serve.
  enum class Copies : std::uint8_t { kMajority, kHere };

  // `on_disk` is what the disk holds at the start.
  Bodies(Process self, HashBody hash, const BodyOptions& options, const std::vector<BodyRef>& on_disk,
         base::Instant now, Copies copies = Copies::kMajority);

  // The managers that count. What one of them held in another life is not believed any more.
  void voters(const std::vector<NodeId>& voters);
  void peer(NodeId manager, Life life);

  // Wanted here and on a majority, first from `source`, until unpinned as often as pinned. A pinned body is not
  // dropped. Whoever gives another size than is known speaks of no body: that one is never here.
  void pin(const BodyRef& body, NodeId source, base::Instant now, Effects& effects);
  // The same for one that was made here.
  void pin(const BodyRef& body, std::string bytes, base::Instant now, Effects& effects);
  void unpin(const BodyRef& body, base::Instant now);

  // The ledger names exactly these.
  void named(const std::map<BodyHash, std::uint64_t>& sizes, base::Instant now, Effects& effects);
  // The ledger names this one from now on, or no more.
  void name(const BodyRef& body, base::Instant now, Effects& effects);
  void unname(const BodyHash& hash, base::Instant now);

  bool here(const BodyRef& body) const;
  bool on_majority(const BodyRef& body) const;
  // Its bytes, if they are in memory; otherwise they are being read, and news() will tell.
  std::shared_ptr<const std::string> bytes(const BodyRef& body, Effects& effects);

  void receive(NodeId from, const BodyOffer& message, base::Instant now, Effects& effects);
  void receive(NodeId from, const BodyHeld& message);
  void receive(NodeId from, const BodyWanted& message, base::Instant now, Effects& effects);
  void receive(NodeId from, const BodyPiece& message, base::Instant now, Effects& effects);
  void receive(NodeId from, const BodyMissing& message, base::Instant now, Effects& effects);
  void stored(const BodyHash& hash, bool ok, base::Instant now, Effects& effects);
  void read(const BodyHash& hash, std::optional<std::string> bytes, base::Instant now, Effects& effects);

  // Drops nothing unless told that it may: who does not know what the log has decided meanwhile must keep everything.
  void wake(base::Instant now, Effects& effects, bool may_drop);
  base::Instant deadline() const;

  // When a piece of any body came last.
  base::Instant gained_at() const { return gained_at_; }
  // Bodies that came to be here, on a majority or in memory since the last call.
  std::set<BodyHash> news() { return std::exchange(news_, {}); }
  std::size_t size() const { return bodies_.size(); }

 private:
  struct Body {
    std::uint64_t size = 0;
    bool here = false;
    bool storing = false;
    bool named = false;
    bool fetching = false;  // its bytes count against kMaxIncomingBytes
    bool on_majority = false;
    std::uint32_t pins = 0;
    std::vector<NodeId> sources;  // who said that they have it; else any voter
    std::size_t next_source = 0;
    NodeId asked = kNoNode;
    std::string gathered;
    base::Instant gained_at{};             // when it was begun to be fetched, or its last piece came
    std::map<NodeId, Life> held;           // by other managers
    std::uint64_t round = 0;               // of offers: while nobody names it, answers to others are not believed
    std::map<NodeId, std::uint64_t> tell;  // who offered it, and in which round, and waits for an answer
    base::Instant kept_until{};            // neither named nor pinned: dropped then
    base::Instant offers_lapse = base::Instant::min();  // then `held` is no longer believed
    base::Instant due = base::kNever;
  };
  struct Asked {
    NodeId from = kNoNode;
    std::uint64_t offset = 0;
  };
  using Table = std::map<BodyHash, Body>;

  Table::iterator find_or_add(const BodyRef& ref, base::Instant now);
  bool wanted(const Body& body) const { return body.named || body.pins > 0 || !body.tell.empty(); }
  void schedule(const BodyHash& hash, Body& body, base::Instant due);
  void act(const BodyHash& hash, Body& body, base::Instant now, Effects& effects);
  void ask(const BodyHash& hash, Body& body, base::Instant now, Effects& effects);
  void offer(const BodyHash& hash, const Body& body, Effects& effects);
  void stop_fetching(Body& body);
  bool held_by_majority(const Body& body) const;
  void judge_majority(const BodyHash& hash, Body& body);
  void forget_holders(const BodyHash& hash, Body& body);
  void serve(NodeId to, const BodyHash& hash, const std::string& bytes, std::uint64_t offset, Effects& effects);
  void remember(const BodyHash& hash, std::shared_ptr<const std::string> bytes);
  void start_reading(const BodyRef& body, std::optional<Asked> asked, Effects& effects);

  Process self_;
  HashBody hash_;
  BodyOptions options_;
  Copies copies_;
  std::vector<NodeId> voters_;
  std::map<NodeId, Life> lives_;
  Table bodies_;
  std::set<std::pair<base::Instant, BodyHash>> due_;
  std::uint64_t rounds_;        // begun so far, from a number that no other life has
  std::uint64_t incoming_ = 0;  // bytes of bodies being fetched
  base::Instant gained_at_ = base::Instant::min();
  std::map<NodeId, resilience::TokenBucket> meters_;
  std::map<BodyHash, std::vector<Asked>> reading_;
  std::map<BodyHash, std::shared_ptr<const std::string>> cache_;
  std::deque<BodyHash> cached_;  // oldest first
  std::uint64_t cache_bytes_ = 0;
  std::set<BodyHash> news_;
};

}  // namespace muster::cluster
