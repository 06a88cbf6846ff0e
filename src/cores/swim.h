// Membership of a group by SWIM with Lifeguard, without IO: who is alive, suspect, dead or gone, as one node sees it,
// and what every member last said of itself. The owner hands in packets, the time and its wake-ups, and after every
// call takes the effects and arms one timer for deadline(). Nothing that comes from outside can make it fail or grow
// beyond swim_options.h. One thread; equal inputs and seeds give equal effects.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "cores/swim_effects.h"
#include "cores/swim_gossip.h"
#include "cores/swim_health.h"
#include "cores/swim_members.h"
#include "cores/swim_messages.h"
#include "cores/swim_options.h"
#include "cores/swim_relays.h"
#include "cores/swim_suspicion.h"

namespace muster::cores {

struct SwimSelf {
  base::NodeId id = base::kNoNode;
  Endpoint address;
  // Higher than in any earlier life where that is known (a count on disk, or the wall clock in ms); if it is not, the
  // first exchange with the group raises it.
  std::uint64_t incarnation = 1;
  std::string state;  // at most kMaxMemberState bytes, else empty
};

class Swim {
 public:
  // `known` are members to begin with (a saved view); an entry about this node itself is passed over.
  Swim(SwimSelf self, const SwimOptions& options, std::uint64_t seed, base::Instant now,
       std::shared_ptr<const Roster> known = nullptr);

  // Asks these, again and again until one answers, for their view. The first of a group has nobody to ask. Once joined,
  // the addresses are only remembered, for finding back after a long separation; owners tell them anew as they resolve.
  void join(std::span<const Endpoint> seeds, base::Instant now);
  // Tells the others; kLeft about this node follows once they know. It goes on answering, and accuses nobody.
  void leave(base::Instant now);

  // `sender` as the envelope names it.
  void receive(base::NodeId sender, const Endpoint& from, SwimChannel channel, std::string_view bytes,
               base::Instant now);
  void wake(base::Instant now);
  // Loop lag as a share of the loop's interval, told about once a second.
  void lag(double ratio, base::Instant now);
  // A new description of this node, in every ack from here on. `announce` gossips it at once, under a new incarnation:
  // for what others must act on (draining, leadership), not for what changes all the time.
  void set_state(std::string bytes, bool announce, base::Instant now);

  // When wake() is due; base::kNever never happens.
  base::Instant deadline() const;
  SwimEffects take();
  bool quiet() const { return effects_.sends.empty() && effects_.events.empty(); }  // take() would give nothing

  base::NodeId id() const { return self_.id; }
  std::uint64_t incarnation() const { return self_.incarnation; }
  const Endpoint& address() const { return self_.address; }
  bool joined() const { return joined_; }  // some member answered, or there was nobody to ask
  bool leaving() const { return leaving_; }
  const MemberTable& members() const { return table_; }  // without this node
  std::size_t group_size() const;                        // members that are not dead, this one included

  std::uint32_t score() const { return health_.score(); }
  DegradationLevel level(base::Instant now) const { return health_.level(now); }
  bool refuses_new_work(base::Instant now) const { return level(now) >= DegradationLevel::kCritical; }
  bool considers_stepping_down(base::Instant now) const { return level(now) >= DegradationLevel::kSevere; }
  bool must_step_down(base::Instant now) const { return level(now) >= DegradationLevel::kCritical; }

  const SwimOptions& options() const { return options_; }
  const SwimCounters& counters() const { return counters_; }
  const std::deque<AuditEntry>& audit() const { return audit_; }  // oldest first
  const GossipQueue& gossip() const { return gossip_; }
  std::uint32_t transmit_limit() const;

 private:
  using Slot = MemberTable::Slot;

  struct Probe {  // the one under way
    base::NodeId target;
    std::uint64_t sequence;
    std::uint64_t incarnation;    // a higher one, heard meanwhile, is a sign of life
    base::Instant ask_others_at;  // kNever once asked; the probe ends when the next one is due
    std::uint32_t asked = 0;
    std::vector<base::NodeId> silent;  // asked, and without a nack
  };
  struct Origin {  // whom a packet, and the claims in it, come from
    base::NodeId sender;
    Endpoint from;
    SwimChannel channel = SwimChannel::kDatagram;
    bool by_exchange = false;
  };

  enum class Choice : std::uint8_t { kAlive, kAliveOrRecentlyDead, kDead };

  // swim_probe.cpp
  void probe_next(base::Instant now);
  void start_probe(const Member& target, base::Instant now);
  void ask_others(base::Instant now);
  void conclude_failed(base::Instant now);
  const Member* next_target();
  const Member* next_recheck();
  void on(const Ping& ping, const Origin& origin, base::Instant now);
  void on(const Ack& ack, const Origin& origin, base::Instant now);
  void on(const PingRequest& request, const Origin& origin, base::Instant now);
  void on(const Nack& nack, const Origin& origin, base::Instant now);
  void tend_relays(base::Instant now);

  // swim_exchange.cpp
  void on(const Exchange& exchange, const Origin& origin, base::Instant now);
  void exchange_next(base::Instant now);
  void ask_seeds(base::Instant now);
  void answer_exchanges(base::Instant now);
  std::vector<std::string> view_frames(bool reply) const;
  void hasten_exchange(base::Instant now);
  void merge(const Claim& entry, const Origin& origin, base::Instant now);

  // swim_claims.cpp
  void apply(const Claim& claim, const Origin& origin, base::Instant now);
  void apply_alive(const Claim& claim, const Origin& origin, base::Instant now);
  void apply_suspect(const Claim& claim, const Origin& origin, base::Instant now);
  void apply_gone(const Claim& claim, const Origin& origin, base::Instant now);
  void apply_about_self(const Claim& claim, base::Instant now);
  bool of_earlier_life(const StateClaim& claim) const;
  void apply_state(Slot slot, const StateClaim& claim, base::Instant now);
  void begin_suspicion(base::NodeId node, base::NodeId by, base::Instant now);
  void end_suspicion(base::NodeId node);
  void end_suspicions(base::Instant now);
  void note_gone(base::NodeId node, base::Instant now);
  void forget_gone(base::NodeId node);
  void reap(base::Instant now);
  void refute(std::uint64_t accused, bool accusation, base::Instant now);

  // swim_spread.cpp
  void on(const Rumours& rumours, const Origin& origin, base::Instant now);
  void spread(GossipClass importance, const Claim& claim, base::Instant now);
  void gossip_next(base::Instant now);
  void send(const Endpoint& to, base::NodeId node, SwimChannel channel, const SwimBody& body, base::Instant now);
  void transmit(const Endpoint& to, SwimChannel channel, std::string bytes);
  void pass_on(GossipClass importance, const Claim& claim, const Origin& origin, base::Instant now);
  bool eligible(const Member& member, Choice choice, base::Instant now) const;
  std::vector<Slot> choose(std::size_t count, base::NodeId except, Choice choice, base::Instant now);
  Claim own_claim() const;

  // swim.cpp
  void notice_stall(base::Instant now);
  void tell(SwimEvent event, base::Instant now);
  void raise_score(std::uint32_t points);
  void adopt_statuses(base::Instant now);

  SwimSelf self_;
  SwimOptions options_;
  base::Random random_;
  LocalHealth health_;
  MemberTable table_;
  ProbeOrder order_;
  GossipQueue gossip_;
  SwimCounters counters_;
  SwimEffects effects_;
  std::deque<AuditEntry> audit_;
  std::shared_ptr<const MemberState> own_state_;

  std::uint64_t next_sequence_;
  base::Instant last_call_;
  std::optional<Probe> probe_;
  base::Instant probe_at_;
  bool rechecked_ = false;             // the last probe was out of turn
  std::deque<base::NodeId> rechecks_;  // suspects to probe out of turn
  Relays relays_;

  std::map<base::NodeId, Suspicion> suspicions_;
  std::set<std::pair<base::Instant, base::NodeId>> suspicion_ends_;
  std::map<base::NodeId, base::Instant> gone_since_;
  std::set<std::pair<base::Instant, base::NodeId>> gone_order_;

  base::Instant gossip_at_ = base::kNever;
  base::Instant last_gossip_{};

  std::vector<Endpoint> seeds_;
  bool joined_ = false;
  bool newcomer_ = false;  // is being told its first view
  base::Instant join_at_ = base::kNever;
  base::Duration join_wait_{};
  base::Instant exchange_at_;
  base::Instant last_exchange_{};
  std::size_t exchange_rumours_ = 0;  // put into gossip by the exchange being merged
  std::vector<Endpoint> waiting_exchanges_;
  base::Instant answer_exchanges_at_ = base::kNever;

  bool leaving_ = false;
  bool left_told_ = false;
  base::Instant leave_by_{};
};

}  // namespace muster::cores
