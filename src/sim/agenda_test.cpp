#include "sim/agenda.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace muster::sim {
namespace {

Event numbered(std::uint32_t number) {
  Event event;
  event.node = number;
  return event;
}

TEST(Agenda, MovesTheTimeToEachEvent) {
  Agenda agenda;
  agenda.push(30, numbered(3));
  agenda.push(10, numbered(1));
  EXPECT_EQ(agenda.pop().node, 1u);
  EXPECT_EQ(agenda.now(), 10);
  EXPECT_EQ(agenda.pop().node, 3u);
  EXPECT_EQ(agenda.now(), 30);
  EXPECT_TRUE(agenda.empty());
}

TEST(Agenda, KeepsTheOrderOfEventsAtOneInstant) {
  Agenda agenda;
  for (std::uint32_t i = 0; i < 100; ++i) agenda.push(5, numbered(i));
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(agenda.pop().node, i);
}

TEST(Agenda, TakesATimeInThePastAsNow) {
  Agenda agenda;
  agenda.push(10, numbered(1));
  agenda.pop();
  agenda.push(3, numbered(2));
  EXPECT_EQ(agenda.next(), 10);
}

TEST(Agenda, PutsBackAnEventThatWaited) {
  Agenda agenda;
  const std::uint32_t kept = agenda.keep(numbered(7));
  agenda.push(1, numbered(1));
  agenda.push_kept(2, kept);
  EXPECT_EQ(agenda.pop().node, 1u);
  EXPECT_EQ(agenda.pop().node, 7u);
}

RC_GTEST_PROP(Agenda, GivesEventsInTheOrderOfTheirTimesAndThenOfTheirComing, (const std::vector<std::uint8_t>& times)) {
  Agenda agenda;
  std::vector<std::pair<std::int64_t, std::uint32_t>> expected;
  for (std::uint32_t i = 0; i < times.size(); ++i) {
    agenda.push(times[i], numbered(i));
    expected.emplace_back(times[i], i);
  }
  std::ranges::sort(expected);
  for (const auto& [at, number] : expected) {
    RC_ASSERT(agenda.next() == at);
    RC_ASSERT(agenda.pop().node == number);
  }
  RC_ASSERT(agenda.empty());
}

}  // namespace
}  // namespace muster::sim
