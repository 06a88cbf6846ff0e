// What must hold of membership after every event, whatever the faults: incarnations, the order of a member's lives and
// states, scores, datagrams and gossip. Sees every process, its events and its packets; tells the kernel what is
// broken.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "cores/swim.h"
#include "sim/kernel.h"

namespace muster::sim {

struct SwimOracleOptions {
  std::uint32_t nodes = 0;  // named 1 to this
  // Whether packets may be changed on their way and come through: then only bounds can be watched.
  bool garbled = false;
  // Whether every life has a higher incarnation than those before it, so that states can be put in order.
  bool ordered_lives = false;
  // Whether clocks run true and nobody is held up, so that times can be compared.
  bool true_clocks = false;
};

// The specification's formulas, said once more: those of the core are what is watched. `members` are those that are not
// dead, the viewer included.
struct SuspicionSpan {
  base::Duration shortest{};
  base::Duration longest{};
};
SuspicionSpan suspicion_span(const cores::SwimOptions& options, std::size_t members);
std::uint32_t most_transmits(std::uint32_t multiplier, std::size_t members);
base::Duration exchange_period(base::Duration base, std::size_t members);

// Whether somebody who has this entry of a node, or none, still holds it to live: suspects do.
bool held_to_live(const cores::Member* member);

// States of a node begin with a number that rises over all its lives.
std::string numbered_state(std::uint64_t number, std::string_view rest);

class SwimOracle {
 public:
  SwimOracle(Kernel& kernel, const SwimOracleOptions& options) : kernel_(&kernel), options_(options) {}

  void observe(const cores::Swim& core);
  void saw(const cores::Swim& core, const cores::SwimEvent& event);
  void sent(const cores::Swim& core, const cores::SwimSend& send);
  void received(const cores::Swim& core, std::string_view bytes);  // and the core has taken it in
  void went_down(base::NodeId node);                               // a new life knows nothing of the old one's view

 private:
  struct Life {            // what a node's present life showed last
    std::size_t peak = 0;  // of its group
    std::uint32_t score = 0;
    std::uint64_t incarnation = 0;
    cores::SwimCounters counters;
    std::optional<cores::SwimEvent> latest;  // that belongs into the audit log
    std::uint64_t conflicts = 0;             // told as events
    std::uint64_t refutations = 0;
    bool owes_answer = false;                      // to an old accusation, in this event
    base::Instant spoke_of_itself = base::kNever;  // when it last said that it lives
    base::Instant asked_at = base::kNever;         // when it last asked a living member for its view
    cores::Endpoint asked;                         // and which
  };
  struct Held {  // what one node holds of another
    cores::MemberStatus status = cores::MemberStatus::kAlive;
    std::uint64_t incarnation = 0;
    std::string state;
    base::Instant not_dead_before{};
    base::Instant dead_by = base::kNever;  // if nothing clears it
  };
  struct Told {  // the last claim that one node gossiped about another, and how often
    std::tuple<cores::MemberStatus, std::uint64_t, base::NodeId> claim;
    std::uint32_t times = 0;
  };
  using Pair = std::pair<base::NodeId, base::NodeId>;

  void check_bounds(const cores::Swim& core, const Life& life);
  void check_score(const cores::Swim& core, Life& life);
  void check_incarnation(base::NodeId viewer, base::NodeId node, std::uint64_t incarnation);
  void check_view(const cores::Swim& core);
  void check_state(const cores::Swim& core, base::NodeId node);
  void check_change(const cores::Swim& core, const cores::SwimEvent& event);
  void check_departure(const cores::Swim& core, const cores::SwimEvent& event, const Held& held);
  void check_gossip(const cores::Swim& core, const cores::SwimSend& send);
  void check_exchange(const cores::Swim& core, const cores::SwimSend& send);
  void check_told(const cores::Swim& core, Life& life);
  void check_rounds(const cores::Swim& core, base::NodeId target);

  Kernel* kernel_;
  SwimOracleOptions options_;
  std::map<base::NodeId, std::uint64_t> truth_;  // the highest incarnation that any life of a node had
  std::map<base::NodeId, Life> lives_;
  std::map<Pair, Held> held_;
  std::map<Pair, Told> told_;
  std::map<Pair, std::uint64_t> probed_;  // how many probes a node had sent when it probed another last
  std::set<std::tuple<base::NodeId, base::NodeId, std::uint64_t>>
      verdicts_;  // who held whom dead, at which incarnation
  std::set<std::pair<base::NodeId, std::uint64_t>> leavers_;
  std::uint64_t looks_ = 0;
};

}  // namespace muster::sim
