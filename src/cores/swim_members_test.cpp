#include "cores/swim_members.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

namespace muster::cores {
namespace {

using base::NodeId;

Member member(std::uint64_t id, std::uint64_t incarnation = 1) {
  Member made;
  made.id = NodeId{id};
  made.incarnation = incarnation;
  return made;
}

std::shared_ptr<const Roster> roster(std::uint64_t count) {
  std::vector<Member> members;
  for (std::uint64_t id = 1; id <= count; ++id) members.push_back(member(id));
  return std::make_shared<const Roster>(std::move(members));
}

TEST(MemberTableTest, AMemberIsFoundByItsNameUntilItIsRemoved) {
  MemberTable table;
  const MemberTable::Slot slot = table.add(member(7));
  EXPECT_EQ(table.find(NodeId{7}), slot);
  EXPECT_EQ(table.count(MemberStatus::kAlive), 1u);
  table.remove(slot);
  EXPECT_FALSE(table.find(NodeId{7}).has_value());
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.add(member(8)), slot);
}

TEST(MemberTableTest, AChangeOfASharedRosterIsSeenByOneViewOnly) {
  const auto shared = roster(3);
  MemberTable one(shared);
  MemberTable other(shared);
  one.set_status(*one.find(NodeId{2}), MemberStatus::kSuspect, 4);
  EXPECT_EQ(one.get(NodeId{2})->incarnation, 4u);
  EXPECT_EQ(one.count(MemberStatus::kSuspect), 1u);
  EXPECT_EQ(other.get(NodeId{2})->incarnation, 1u);
  EXPECT_EQ(other.count(MemberStatus::kSuspect), 0u);
}

TEST(MemberTableTest, AMemberOfTheRosterComesBackToItsSlotAfterRemoval) {
  MemberTable table(roster(3));
  const MemberTable::Slot slot = *table.find(NodeId{2});
  table.remove(slot);
  EXPECT_EQ(table.get(NodeId{2}), nullptr);
  EXPECT_EQ(table.size(), 2u);
  EXPECT_EQ(table.add(member(2, 9)), slot);
  EXPECT_EQ(table.get(NodeId{2})->incarnation, 9u);
}

TEST(MemberTableTest, AViewMayDifferFromAllOfItsRosterAndRecordsStayWhereTheyAre) {
  MemberTable table(roster(1000));
  table.set_status(0, MemberStatus::kSuspect, 2);
  const Member& first = table.at(0);
  for (MemberTable::Slot slot = 1; slot < 1000; slot += 2) table.set_status(slot, MemberStatus::kDead, slot + 5);
  for (MemberTable::Slot slot = 1; slot < 1000; ++slot) {
    EXPECT_EQ(table.at(slot).id, NodeId{slot + 1});
    EXPECT_EQ(table.at(slot).incarnation, slot % 2 == 1 ? slot + 5 : 1);
  }
  EXPECT_EQ(&table.at(0), &first);
  EXPECT_EQ(table.count(MemberStatus::kDead), 500u);
}

RC_GTEST_PROP(MemberTableProperties, BehavesLikeAMapWithAndWithoutARoster, (std::uint8_t base_size)) {
  MemberTable table(roster(base_size % 8u));
  std::map<std::uint64_t, std::uint64_t> truth;
  for (std::uint64_t id = 1; id <= base_size % 8u; ++id) truth[id] = 1;
  for (const auto& [id_byte, action] : *rc::gen::arbitrary<std::vector<std::pair<std::uint8_t, std::uint8_t>>>()) {
    const std::uint64_t id = 1 + id_byte % 12;
    const std::optional<MemberTable::Slot> slot = table.find(NodeId{id});
    RC_ASSERT(slot.has_value() == truth.contains(id));
    if (!slot) {
      table.add(member(id, action));
      truth[id] = action;
    } else if (action % 2 == 0) {
      table.remove(*slot);
      truth.erase(id);
    } else {
      table.set_status(*slot, static_cast<MemberStatus>(action % 4), action);
      truth[id] = action;
    }
  }
  std::map<std::uint64_t, std::uint64_t> seen;
  table.each([&](MemberTable::Slot, const Member& one) { seen[number(one.id)] = one.incarnation; });
  RC_ASSERT(seen == truth);
  RC_ASSERT(table.size() == truth.size());
}

TEST(ProbeOrderTest, EveryRoundVisitsEverySlotOnceInAnotherOrder) {
  base::Random random(1);
  for (const MemberTable::Slot slots : {1u, 2u, 3u, 7u, 64u, 100u, 1000u}) {
    ProbeOrder order;
    std::vector<MemberTable::Slot> before;
    for (int round = 0; round < 3; ++round) {
      std::vector<MemberTable::Slot> visited;
      for (MemberTable::Slot turn = 0; turn < slots; ++turn) visited.push_back(order.next(slots, random));
      EXPECT_EQ(std::set(visited.begin(), visited.end()).size(), slots);
      if (slots >= 64) EXPECT_NE(visited, before);
      before = visited;
    }
  }
}

TEST(ProbeOrderTest, SlotsThatAppearWithinARoundAreVisitedInTheNext) {
  base::Random random(1);
  ProbeOrder order;
  order.next(5, random);
  std::set<MemberTable::Slot> visited;
  for (int turn = 0; turn < 4; ++turn) visited.insert(order.next(6, random));
  EXPECT_FALSE(visited.contains(5));
  for (int turn = 0; turn < 6; ++turn) visited.insert(order.next(6, random));
  EXPECT_TRUE(visited.contains(5));
}

}  // namespace
}  // namespace muster::cores
