// One node's view of its group: a record per member, addressed by a slot that stays the same while the member is known.
// A view may begin as a shared, unchanging Roster and then holds only what differs from it, so that ten thousand nodes
// with ten thousand members each fit in one process.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/node_id.h"
#include "base/random.h"
#include "cores/swim_messages.h"

namespace muster::cores {

// What a node last said of itself. Ordered by (incarnation, version).
struct MemberState {
  std::uint64_t incarnation = 0;
  std::uint64_t version = 0;
  std::string bytes;
};

struct Member {
  base::NodeId id = base::kNoNode;  // kNoNode: the slot is empty
  std::uint64_t incarnation = 0;
  std::shared_ptr<const MemberState> state;  // null: never heard
  Endpoint address;
  MemberStatus status = MemberStatus::kAlive;
};

// Members that many views have in common. Never changes once made; shared between threads freely.
class Roster {
 public:
  explicit Roster(std::vector<Member> members);  // each id once, none of them kNoNode

  const std::vector<Member>& members() const { return members_; }
  std::optional<std::uint32_t> find(base::NodeId id) const;

 private:
  std::vector<Member> members_;
  std::unordered_map<base::NodeId, std::uint32_t> slots_;
};

// What of a roster one view holds differently, by slot. Flat, as thousands of views with hundreds of differences each
// are mostly looked up in; records stay where they are.
class Differences {
 public:
  const Member* find(std::uint32_t slot) const;
  // The record of this slot, which begins as a copy of `original`.
  Member& make(std::uint32_t slot, const Member& original);

 private:
  struct Place {
    std::uint32_t slot;
    std::uint32_t record;  // its index + 1; 0: free
  };

  std::size_t place_of(std::uint32_t slot) const;  // where it is, or would be
  void grow();

  std::vector<Place> places_;  // a power of two, at most three quarters of them taken
  std::deque<Member> records_;
};

class MemberTable {
 public:
  using Slot = std::uint32_t;

  MemberTable() = default;
  explicit MemberTable(std::shared_ptr<const Roster> base);

  // Slots run from 0 to here; some may be empty.
  Slot slots() const { return base_size_ + static_cast<Slot>(added_.size()); }
  const Member& at(Slot slot) const;
  bool empty(Slot slot) const { return at(slot).id == base::kNoNode; }

  std::optional<Slot> find(base::NodeId id) const;
  const Member* get(base::NodeId id) const;

  Slot add(Member member);  // its id is not in the table yet
  void remove(Slot slot);

  void set_status(Slot slot, MemberStatus status, std::uint64_t incarnation);
  void set_address(Slot slot, const Endpoint& address);
  void set_state(Slot slot, std::shared_ptr<const MemberState> state);

  std::size_t count(MemberStatus status) const { return counts_[static_cast<std::size_t>(status)]; }
  std::size_t size() const;  // members in any state

  // Calls visit(slot, member) for every member, in the order of slots.
  template <class Visit>
  void each(Visit&& visit) const {
    for (Slot slot = 0; slot < slots(); ++slot) {
      if (const Member& member = at(slot); member.id != base::kNoNode) visit(slot, member);
    }
  }

 private:
  Member& writable(Slot slot);

  std::shared_ptr<const Roster> base_;
  Slot base_size_ = 0;
  Differences changed_;  // from the base
  std::vector<Member> added_;
  std::vector<Slot> free_;                         // empty slots among the added
  std::unordered_map<base::NodeId, Slot> places_;  // of the added; never iterated
  std::array<std::size_t, 4> counts_{};
};

// The order in which members are probed: every slot once per round, each round shuffled anew (SWIM section 4.3). The
// shuffle is a keyed permutation, so it takes no memory; members that join within a round wait for the next one.
class ProbeOrder {
 public:
  // A slot below `slots`, which must not be 0.
  MemberTable::Slot next(MemberTable::Slot slots, base::Random& random);

 private:
  std::uint64_t key_ = 0;
  MemberTable::Slot position_ = 0;
  MemberTable::Slot round_slots_ = 0;
};

}  // namespace muster::cores
