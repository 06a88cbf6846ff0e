#include "cores/swim_relays.h"

#include <gtest/gtest.h>

#include "cores/swim_options.h"

namespace muster::cores {
namespace {

using base::NodeId;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr base::Instant kFirstNack{minutes(1)};

Relay relay(std::uint64_t sequence, base::Instant nack_at = kFirstNack) {
  return {.sequence = sequence,
          .asked_as = sequence + 1000,
          .asked_by = ipv4_endpoint(1, 1),
          .asker = NodeId{1},
          .target = NodeId{2},
          .nack_at = nack_at};
}

TEST(RelaysTest, AnAnswerIsForWhoeverAskedAndCountsOnce) {
  Relays relays;
  EXPECT_TRUE(relays.add(relay(5)));
  EXPECT_FALSE(relays.answer(6, NodeId{2}).has_value());
  EXPECT_FALSE(relays.answer(5, NodeId{3}).has_value());
  const std::optional<Relay> answered = relays.answer(5, NodeId{2});
  ASSERT_TRUE(answered.has_value());
  EXPECT_EQ(answered->asked_as, 1005u);
  EXPECT_FALSE(relays.answer(5, NodeId{2}).has_value());
}

TEST(RelaysTest, OnlyTheSilentAreDueAndEachOnce) {
  Relays relays;
  relays.add(relay(5, kFirstNack));
  relays.add(relay(6, kFirstNack + seconds(1)));
  relays.add(relay(7, kFirstNack + seconds(2)));
  relays.answer(6, NodeId{2});
  EXPECT_EQ(relays.next_due(), kFirstNack);
  EXPECT_EQ(relays.due(kFirstNack, seconds(9)).size(), 1u);
  EXPECT_EQ(relays.next_due(), kFirstNack + seconds(1));
  const std::vector<Relay> due = relays.due(kFirstNack + seconds(2), seconds(9));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].sequence, 7u);
  EXPECT_EQ(relays.next_due(), base::kNever);
}

TEST(RelaysTest, AnAnswerCountsAfterTheNackUntilItIsForgotten) {
  Relays relays;
  relays.add(relay(5));
  relays.add(relay(6));
  relays.due(kFirstNack, seconds(9));
  EXPECT_TRUE(relays.answer(5, NodeId{2}).has_value());
  relays.due(kFirstNack + seconds(9), seconds(9));
  EXPECT_FALSE(relays.answer(6, NodeId{2}).has_value());
}

TEST(RelaysTest, TheOldestMakeRoom) {
  Relays relays;
  for (std::uint64_t sequence = 1; sequence <= kMaxRelays; ++sequence) EXPECT_TRUE(relays.add(relay(sequence)));
  EXPECT_FALSE(relays.add(relay(kMaxRelays + 1)));
  EXPECT_FALSE(relays.answer(1, NodeId{2}).has_value());
  EXPECT_TRUE(relays.answer(2, NodeId{2}).has_value());
  EXPECT_EQ(relays.due(kFirstNack, seconds(9)).size(), kMaxRelays - 1);
}

}  // namespace
}  // namespace muster::cores
