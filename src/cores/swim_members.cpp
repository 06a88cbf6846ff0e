#include "cores/swim_members.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace muster::cores {
namespace {

// A permutation of 2^(2·half) numbers: four rounds of a Feistel network, the round function of which is a good mixer.
std::uint32_t permute(std::uint32_t value, unsigned half, std::uint64_t key) {
  const std::uint32_t mask = (std::uint32_t{1} << half) - 1;
  std::uint32_t left = value >> half;
  std::uint32_t right = value & mask;
  for (std::uint64_t round = 0; round < 4; ++round) {
    const auto mixed = static_cast<std::uint32_t>(base::mix(key + (round << 32 | right))) & mask;
    left = std::exchange(right, left ^ mixed);
  }
  return left << half | right;
}

}  // namespace

Roster::Roster(std::vector<Member> members) : members_(std::move(members)) {
  slots_.reserve(members_.size());
  for (std::uint32_t slot = 0; slot < members_.size(); ++slot) slots_.emplace(members_[slot].id, slot);
}

std::optional<std::uint32_t> Roster::find(base::NodeId id) const {
  // Names are often given out one after another; then the place follows from the name.
  if (members_.empty()) return std::nullopt;
  const std::uint64_t guess = number(id) - number(members_.front().id);
  if (guess < members_.size() && members_[guess].id == id) return static_cast<std::uint32_t>(guess);
  const auto found = slots_.find(id);
  if (found == slots_.end()) return std::nullopt;
  return found->second;
}

const Member* Differences::find(std::uint32_t slot) const {
  if (places_.empty()) return nullptr;
  const Place& place = places_[place_of(slot)];
  return place.record == 0 ? nullptr : &records_[place.record - 1];
}

Member& Differences::make(std::uint32_t slot, const Member& original) {
  if (4 * (records_.size() + 1) > 3 * places_.size()) grow();
  Place& place = places_[place_of(slot)];
  if (place.record == 0) {
    records_.push_back(original);
    place = {slot, static_cast<std::uint32_t>(records_.size())};
  }
  return records_[place.record - 1];
}

std::size_t Differences::place_of(std::uint32_t slot) const {
  const std::size_t mask = places_.size() - 1;
  std::size_t at = base::mix(slot) & mask;
  while (places_[at].record != 0 && places_[at].slot != slot) at = (at + 1) & mask;
  return at;
}

void Differences::grow() {
  constexpr std::size_t kFirst = 16;
  const std::vector<Place> before = std::exchange(places_, std::vector<Place>(std::max(kFirst, 2 * places_.size())));
  for (const Place& place : before) {
    if (place.record != 0) places_[place_of(place.slot)] = place;
  }
}

MemberTable::MemberTable(std::shared_ptr<const Roster> base) : base_(std::move(base)) {
  if (!base_) return;
  base_size_ = static_cast<Slot>(base_->members().size());
  for (const Member& member : base_->members()) ++counts_[static_cast<std::size_t>(member.status)];
}

const Member& MemberTable::at(Slot slot) const {
  if (slot >= base_size_) return added_[slot - base_size_];
  const Member* changed = changed_.find(slot);
  return changed != nullptr ? *changed : base_->members()[slot];
}

std::optional<MemberTable::Slot> MemberTable::find(base::NodeId id) const {
  if (const std::optional<Slot> slot = base_ ? base_->find(id) : std::nullopt) {
    return at(*slot).id == id ? slot : std::nullopt;
  }
  const auto found = places_.find(id);
  if (found == places_.end()) return std::nullopt;
  return found->second;
}

const Member* MemberTable::get(base::NodeId id) const {
  const std::optional<Slot> slot = find(id);
  return slot ? &at(*slot) : nullptr;
}

MemberTable::Slot MemberTable::add(Member member) {
  ++counts_[static_cast<std::size_t>(member.status)];
  const base::NodeId id = member.id;
  // A member of the base that was removed has its old slot.
  if (base_) {
    if (const std::optional<Slot> old = base_->find(id)) {
      writable(*old) = std::move(member);
      return *old;
    }
  }
  Slot slot = slots();
  if (free_.empty()) {
    added_.push_back(std::move(member));
  } else {
    slot = free_.back();
    free_.pop_back();
    added_[slot - base_size_] = std::move(member);
  }
  places_.emplace(id, slot);
  return slot;
}

void MemberTable::remove(Slot slot) {
  Member& member = writable(slot);
  --counts_[static_cast<std::size_t>(member.status)];
  if (slot >= base_size_) {
    places_.erase(member.id);
    free_.push_back(slot);
  }
  member = Member{};
}

void MemberTable::set_status(Slot slot, MemberStatus status, std::uint64_t incarnation) {
  Member& member = writable(slot);
  --counts_[static_cast<std::size_t>(member.status)];
  ++counts_[static_cast<std::size_t>(status)];
  member.status = status;
  member.incarnation = incarnation;
}

void MemberTable::set_address(Slot slot, const Endpoint& address) {
  writable(slot).address = address;
}

void MemberTable::set_state(Slot slot, std::shared_ptr<const MemberState> state) {
  writable(slot).state = std::move(state);
}

std::size_t MemberTable::size() const {
  return counts_[0] + counts_[1] + counts_[2] + counts_[3];
}

Member& MemberTable::writable(Slot slot) {
  if (slot >= base_size_) return added_[slot - base_size_];
  return changed_.make(slot, base_->members()[slot]);
}

MemberTable::Slot ProbeOrder::next(MemberTable::Slot slots, base::Random& random) {
  if (position_ >= round_slots_ || round_slots_ > slots) {
    key_ = random.next();
    position_ = 0;
    round_slots_ = slots;
  }
  const unsigned bits = std::bit_width(round_slots_ - 1u);
  const unsigned half = std::max((bits + 1) / 2, 1u);
  // Numbers beyond the slots are followed along their cycle until it comes back among them.
  MemberTable::Slot slot = permute(position_++, half, key_);
  while (slot >= round_slots_) slot = permute(slot, half, key_);
  return slot;
}

}  // namespace muster::cores
