#include "console/screen/choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "console/screen/options.h"

namespace muster::console {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr base::Instant kStart = base::Instant(100s);

class ChoicesTest : public testing::Test {
 protected:
  ChoicesTest() {
    snapshot_.workflows.resize(3);
    snapshot_.workflows[0].state = model::WorkflowState::kCompleted;
    snapshot_.workflows[1].state = model::WorkflowState::kRunning;
    snapshot_.workflows[2].state = model::WorkflowState::kRunning;
  }

  std::vector<Wish::Kind> press(char key) {
    std::vector<Wish::Kind> kinds;
    for (const Wish& wish : choices_.take({Key::Kind::kCharacter, key}, kStart)) kinds.push_back(wish.kind);
    return kinds;
  }
  void press(Key::Kind kind) { choices_.take({kind, 0}, kStart); }
  std::size_t view() { return choices_.state().view; }

  model::RunResult snapshot_;
  Choices choices_{4};
};

TEST_F(ChoicesTest, SpacePausesAndGoesOn) {
  EXPECT_THAT(press(' '), ElementsAre(Wish::Kind::kPause));
  EXPECT_TRUE(choices_.state().paused);
  EXPECT_THAT(press(' '), ElementsAre(Wish::Kind::kResume));
  EXPECT_FALSE(choices_.state().paused);
}

TEST_F(ChoicesTest, PlusAndMinusScaleInTenthsWithinBounds) {
  EXPECT_THAT(choices_.take({Key::Kind::kCharacter, '+'}, kStart),
              ElementsAre(Field(&Wish::factor, testing::DoubleEq(1.1))));
  EXPECT_THAT(choices_.state().message, HasSubstr("1.1 times"));
  press('-');
  EXPECT_DOUBLE_EQ(choices_.state().factor, 1.0);
  for (int i = 0; i != 30; ++i) press('-');
  EXPECT_DOUBLE_EQ(choices_.state().factor, kLeastScale);
  EXPECT_THAT(press('-'), IsEmpty());
  for (int i = 0; i != 300; ++i) press('+');
  EXPECT_DOUBLE_EQ(choices_.state().factor, kMostScale);
}

TEST_F(ChoicesTest, AsksForTheEnd) {
  EXPECT_THAT(press('s'), ElementsAre(Wish::Kind::kStop));
  EXPECT_THAT(press('q'), ElementsAre(Wish::Kind::kInterrupt));
}

TEST_F(ChoicesTest, WhatIsStoppingIsNotPausedOrScaled) {
  choices_.stopping("stopping: wait");
  EXPECT_THAT(press(' '), IsEmpty());
  EXPECT_THAT(press('+'), IsEmpty());
  EXPECT_THAT(press('s'), IsEmpty());
  EXPECT_THAT(press('q'), ElementsAre(Wish::Kind::kInterrupt)) << "a second time ends at once";
  choices_.pass(snapshot_, kStart + 1h);
  EXPECT_EQ(choices_.state().message, "stopping: wait") << "it stays";
}

TEST_F(ChoicesTest, WorkflowsThatRunTakeTurnsWithTheWhole) {
  std::vector<std::size_t> views;
  for (int i = 0; i != 5; ++i) {
    choices_.pass(snapshot_, kStart + i * kTabInterval);
    views.push_back(view());
  }
  EXPECT_THAT(views, ElementsAre(0, 2, 3, 0, 2));
}

TEST_F(ChoicesTest, AKeyPinsAWorkflow) {
  press('3');
  EXPECT_EQ(view(), 3u);
  choices_.pass(snapshot_, kStart);
  choices_.pass(snapshot_, kStart + 10 * kTabInterval);
  EXPECT_EQ(view(), 3u);
  press(Key::Kind::kRight);
  EXPECT_EQ(view(), 0u);
  press(Key::Kind::kLeft);
  EXPECT_EQ(view(), 3u);
  press('a');
  EXPECT_EQ(view(), 0u);
  press('9');
  EXPECT_EQ(view(), 0u) << "there is no such workflow";
  press('c');
  choices_.pass(snapshot_, kStart + kTabInterval);
  EXPECT_EQ(view(), 2u);
}

TEST_F(ChoicesTest, OneWorkflowHasNoTabs) {
  Choices one(2);
  one.take({Key::Kind::kTab, 0}, kStart);
  one.take({Key::Kind::kCharacter, '1'}, kStart);
  EXPECT_EQ(one.state().view, 0u);
  EXPECT_FALSE(one.state().pinned);
}

TEST_F(ChoicesTest, HelpOpensAndCloses) {
  press('?');
  EXPECT_TRUE(choices_.state().help);
  press(Key::Kind::kEscape);
  EXPECT_FALSE(choices_.state().help);
}

TEST_F(ChoicesTest, MessagesGoAfterAWhile) {
  press('+');
  choices_.pass(snapshot_, kStart + kMessageTime / 2);
  EXPECT_NE(choices_.state().message, "");
  choices_.pass(snapshot_, kStart + kMessageTime);
  EXPECT_EQ(choices_.state().message, "");
}

}  // namespace
}  // namespace muster::console
