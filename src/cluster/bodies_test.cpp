#include "cluster/bodies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cluster/world.h"

namespace muster::cluster {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr NodeId kA{1};
constexpr NodeId kB{2};
constexpr NodeId kC{3};
constexpr NodeId kGuest{50};

class BodiesTest : public ::testing::Test {
 protected:
  BodiesTest() : bodies_({kA, Life{1}}, test_hash, {}, {}, now_) { bodies_.voters({kA, kB, kC}); }

  static BodyRef ref(const std::string& bytes) { return {test_hash(bytes), bytes.size()}; }
  void pass(base::Duration span) {
    const base::Instant end = now_ + span;
    while (bodies_.deadline() <= end) {
      now_ = std::max(now_ + base::Duration(1), bodies_.deadline());
      bodies_.wake(now_, effects_, true);
    }
    now_ = end;
  }
  template <class T>
  std::vector<std::pair<NodeId, T>> sent() {
    std::vector<std::pair<NodeId, T>> found;
    for (const Effect& effect : effects_) {
      const auto* out = std::get_if<Send>(&effect);
      if (out != nullptr && std::holds_alternative<T>(out->message)) {
        found.emplace_back(out->to, std::get<T>(out->message));
      }
    }
    return found;
  }
  template <class T>
  std::size_t count() {
    return static_cast<std::size_t>(
        std::ranges::count_if(effects_, [](const Effect& effect) { return std::holds_alternative<T>(effect); }));
  }
  void own(const std::string& bytes) {
    bodies_.pin(ref(bytes), bytes, now_, effects_);
    bodies_.stored(ref(bytes).hash, true, now_, effects_);
  }
  // B answers the last offer.
  void held_by_b(const std::string& bytes) {
    const std::uint64_t round = sent<BodyOffer>().back().second.round;
    bodies_.receive(kB, BodyHeld{ref(bytes).hash, Life{1}, round});
  }

  base::Instant now_{std::chrono::hours(1)};
  Bodies bodies_;
  Effects effects_;
};

TEST_F(BodiesTest, PullsABodyPieceByPieceAndChecksItsHash) {
  const std::string bytes(kBodyPiece + 10, 'x');
  bodies_.pin(ref(bytes), kGuest, now_, effects_);
  ASSERT_EQ(sent<BodyWanted>().size(), 1u);
  EXPECT_EQ(sent<BodyWanted>()[0].first, kGuest);
  bodies_.receive(kGuest, BodyPiece{ref(bytes).hash, 0, bytes.substr(0, kBodyPiece)}, now_, effects_);
  ASSERT_EQ(sent<BodyWanted>().size(), 2u);
  EXPECT_EQ(sent<BodyWanted>()[1].second.offset, kBodyPiece);
  bodies_.receive(kGuest, BodyPiece{ref(bytes).hash, kBodyPiece, bytes.substr(kBodyPiece)}, now_, effects_);
  EXPECT_EQ(count<StoreBody>(), 1u);
  EXPECT_FALSE(bodies_.here(ref(bytes)));
  bodies_.stored(ref(bytes).hash, true, now_, effects_);
  EXPECT_TRUE(bodies_.here(ref(bytes)));
}

TEST_F(BodiesTest, StoresNothingUnderAWrongName) {
  bodies_.pin(ref("right"), kGuest, now_, effects_);
  bodies_.receive(kGuest, BodyPiece{ref("right").hash, 0, "wrong"}, now_, effects_);
  EXPECT_EQ(count<StoreBody>(), 0u);
  pass(seconds(2));
  EXPECT_GT(sent<BodyWanted>().size(), 1u);
}

TEST_F(BodiesTest, TakesNoPieceThatItDidNotAskFor) {
  bodies_.receive(kGuest, BodyPiece{ref("right").hash, 0, "right"}, now_, effects_);
  bodies_.pin(ref("right"), kGuest, now_, effects_);
  bodies_.receive(kC, BodyPiece{ref("right").hash, 0, "right"}, now_, effects_);
  EXPECT_EQ(count<StoreBody>(), 0u);
}

TEST_F(BodiesTest, AsksTheNextOneWhenASourceIsSilent) {
  bodies_.pin(ref("right"), kGuest, now_, effects_);
  pass(seconds(5));
  std::set<NodeId> asked;
  for (const auto& [to, message] : sent<BodyWanted>()) asked.insert(to);
  EXPECT_EQ(asked, (std::set<NodeId>{kB, kC, kGuest}));
}

TEST_F(BodiesTest, OffersWhatIsPinnedUntilAMajorityHoldsIt) {
  own("mine");
  EXPECT_FALSE(bodies_.on_majority(ref("mine")));
  EXPECT_EQ(sent<BodyOffer>().size(), 2u);
  held_by_b("mine");
  EXPECT_TRUE(bodies_.on_majority(ref("mine")));
  EXPECT_TRUE(bodies_.news().contains(ref("mine").hash));
}

TEST_F(BodiesTest, DoesNotBelieveWhatAFormerLifeHeld) {
  own("mine");
  held_by_b("mine");
  bodies_.peer(kB, Life{2});
  EXPECT_FALSE(bodies_.on_majority(ref("mine")));
  effects_.clear();
  pass(seconds(2));
  EXPECT_FALSE(sent<BodyOffer>().empty());
}

TEST_F(BodiesTest, CountsTheMajorityOfWhoeverVotesNow) {
  own("mine");
  held_by_b("mine");
  bodies_.voters({kA, kC, NodeId{4}});
  EXPECT_FALSE(bodies_.on_majority(ref("mine")));
  effects_.clear();
  pass(seconds(2));
  EXPECT_FALSE(sent<BodyOffer>().empty());
}

TEST_F(BodiesTest, OffersAnewWhatTheLedgerForgotAndIsNeededOnceMore) {
  own("mine");
  held_by_b("mine");
  bodies_.name(ref("mine"), now_, effects_);
  bodies_.unpin(ref("mine"), now_);
  bodies_.unname(ref("mine").hash, now_);
  effects_.clear();
  own("mine");
  EXPECT_FALSE(bodies_.on_majority(ref("mine")));
  EXPECT_FALSE(sent<BodyOffer>().empty());
}

TEST_F(BodiesTest, OffersAnewWhatHasWaitedLongForItsName) {
  own("mine");
  held_by_b("mine");
  effects_.clear();
  pass(BodyOptions{}.keep / 2);
  EXPECT_FALSE(sent<BodyOffer>().empty());
  EXPECT_FALSE(bodies_.on_majority(ref("mine")));
}

TEST_F(BodiesTest, FetchesWhateverTheLedgerNamesAndItLacks) {
  bodies_.named({{ref("named").hash, 5}}, now_, effects_);
  ASSERT_EQ(sent<BodyWanted>().size(), 1u);
  EXPECT_NE(sent<BodyWanted>()[0].first, kA);
}

TEST_F(BodiesTest, KeepsBytesOfAPinUntilTheLedgerNamesThemOrTimePasses) {
  own("mine");
  bodies_.unpin(ref("mine"), now_);
  pass(minutes(9));
  EXPECT_EQ(count<DropBody>(), 0u);
  pass(minutes(2));
  EXPECT_EQ(count<DropBody>(), 1u);
  own("other");
  bodies_.name(ref("other"), now_, effects_);
  bodies_.unpin(ref("other"), now_);
  pass(minutes(60));
  EXPECT_EQ(count<DropBody>(), 1u);
  bodies_.unname(ref("other").hash, now_);
  pass(minutes(7));
  EXPECT_EQ(count<DropBody>(), 1u);
  pass(minutes(1));
  EXPECT_EQ(count<DropBody>(), 2u);
}

TEST_F(BodiesTest, BodiesThatNeverComeDoNotHoldUpOthers) {
  for (char name = 'a'; name < 'e'; ++name) {
    bodies_.pin({test_hash(std::string(1, name)), kMaxBodyBytes}, kGuest, now_, effects_);
  }
  effects_.clear();
  bodies_.pin(ref("small"), kB, now_, effects_);
  EXPECT_TRUE(sent<BodyWanted>().empty());
  pass(BodyOptions{}.fetch_patience + 3 * BodyOptions{}.piece_timeout);
  EXPECT_TRUE(
      std::ranges::any_of(sent<BodyWanted>(), [](const auto& asked) { return asked.second.body == ref("small"); }));
}

TEST_F(BodiesTest, TakesWholePiecesOnly) {
  const std::string bytes(kBodyPiece + 10, 'x');
  bodies_.pin(ref(bytes), kGuest, now_, effects_);
  effects_.clear();
  bodies_.receive(kGuest, BodyPiece{ref(bytes).hash, 0, "x"}, now_, effects_);
  EXPECT_TRUE(effects_.empty());
}

TEST_F(BodiesTest, AWrongSizeNamesNoBodyAndFreesNone) {
  own("mine");
  held_by_b("mine");
  const BodyRef longer{ref("mine").hash, ref("mine").size + 1};
  bodies_.pin(longer, kGuest, now_, effects_);
  EXPECT_FALSE(bodies_.here(longer));
  EXPECT_FALSE(bodies_.on_majority(longer));
  bodies_.unpin(longer, now_);
  pass(minutes(60));
  EXPECT_EQ(count<DropBody>(), 0u);
  EXPECT_TRUE(bodies_.here(ref("mine")));
}

TEST_F(BodiesTest, FetchesAnewWhatTheLedgerNamesWithAnotherSize) {
  Bodies bodies({kA, Life{2}}, test_hash, {}, {BodyRef{ref("named").hash, 3}}, now_);
  bodies.voters({kA, kB, kC});
  bodies.name(ref("named"), now_, effects_);
  EXPECT_FALSE(bodies.here(ref("named")));
  ASSERT_EQ(sent<BodyWanted>().size(), 1u);
  EXPECT_EQ(sent<BodyWanted>()[0].second.body, ref("named"));
}

TEST_F(BodiesTest, WhatItSaidToHoldItHoldsForAWhileThoughTheLedgerForgetsIt) {
  own("shared");
  bodies_.name(ref("shared"), now_, effects_);
  bodies_.unpin(ref("shared"), now_);
  pass(minutes(60));
  bodies_.receive(kB, BodyOffer{ref("shared")}, now_, effects_);
  bodies_.unname(ref("shared").hash, now_);
  pass(minutes(9));
  EXPECT_TRUE(bodies_.here(ref("shared")));
}

TEST_F(BodiesTest, AnAnswerToAnOfferOfLongAgoCountsForNothing) {
  own("mine");
  const std::uint64_t old = sent<BodyOffer>().back().second.round;
  effects_.clear();
  pass(BodyOptions{}.keep / 2);
  ASSERT_FALSE(sent<BodyOffer>().empty());
  bodies_.receive(kB, BodyHeld{ref("mine").hash, Life{1}, old});
  EXPECT_FALSE(bodies_.on_majority(ref("mine"))) << "B has kept it since then, and will not for long";
  held_by_b("mine");
  EXPECT_TRUE(bodies_.on_majority(ref("mine")));
}

TEST_F(BodiesTest, AnAnswerToAFormerLifeCountsForNothing) {
  own("mine");
  const std::uint64_t old = sent<BodyOffer>().back().second.round;
  Bodies after_restart({kA, Life{2}}, test_hash, {}, {ref("mine")}, now_);
  after_restart.voters({kA, kB, kC});
  after_restart.pin(ref("mine"), std::string("mine"), now_, effects_);
  after_restart.receive(kB, BodyHeld{ref("mine").hash, Life{1}, old});
  EXPECT_FALSE(after_restart.on_majority(ref("mine")));
}

TEST_F(BodiesTest, DropsNothingWhileTheLedgerMayBeBehindTheLog) {
  Bodies after_restart({kA, Life{2}}, test_hash, {}, {ref("named"), ref("loose")}, now_);
  const auto pass_without_log = [&](base::Duration span) {
    for (const base::Instant end = now_ + span; after_restart.deadline() <= end;) {
      now_ = std::max(now_ + base::Duration(1), after_restart.deadline());
      after_restart.wake(now_, effects_, false);
    }
  };
  pass_without_log(minutes(60));
  EXPECT_EQ(count<DropBody>(), 0u);
  after_restart.name(ref("named"), now_, effects_);
  now_ += minutes(10);
  after_restart.wake(now_, effects_, true);
  EXPECT_EQ(count<DropBody>(), 1u);
  EXPECT_TRUE(after_restart.here(ref("named")));
}

TEST_F(BodiesTest, AnOfferThatWasGivenUpIsNotCopiedForEver) {
  bodies_.receive(kB, BodyOffer{ref("lost")}, now_, effects_);
  EXPECT_EQ(sent<BodyWanted>().size(), 1u);
  pass(minutes(11));
  effects_.clear();
  pass(minutes(5));
  EXPECT_TRUE(sent<BodyWanted>().empty());
  EXPECT_EQ(bodies_.size(), 0u);
}

TEST_F(BodiesTest, TellsWhoOfferedABodyThatItIsHeld) {
  bodies_.receive(kB, BodyOffer{ref("theirs"), 6}, now_, effects_);
  bodies_.receive(kB, BodyOffer{ref("theirs"), 7}, now_, effects_);
  bodies_.receive(kB, BodyPiece{ref("theirs").hash, 0, "theirs"}, now_, effects_);
  EXPECT_TRUE(sent<BodyHeld>().empty());
  bodies_.stored(ref("theirs").hash, true, now_, effects_);
  ASSERT_EQ(sent<BodyHeld>().size(), 1u);
  EXPECT_EQ(sent<BodyHeld>()[0].first, kB);
  EXPECT_EQ(sent<BodyHeld>()[0].second.round, 7u);
}

TEST_F(BodiesTest, TakesOffersOfManagersOnly) {
  bodies_.receive(kGuest, BodyOffer{ref("theirs")}, now_, effects_);
  EXPECT_EQ(bodies_.size(), 0u);
}

TEST_F(BodiesTest, MetersWhatAPeerMayAskFor) {
  own("mine");
  effects_.clear();
  for (int i = 0; i < 1000; ++i) bodies_.receive(kGuest, BodyWanted{ref("mine"), 0}, now_, effects_);
  EXPECT_LE(sent<BodyPiece>().size(), 256u);
  EXPECT_GE(sent<BodyPiece>().size(), 200u);
  EXPECT_TRUE(sent<BodyMissing>().back().second.busy);
}

TEST_F(BodiesTest, ReadsFromDiskWhatItHasNotInMemory) {
  Bodies after_restart({kA, Life{2}}, test_hash, {}, {ref("kept")}, now_);
  after_restart.receive(kB, BodyWanted{ref("kept"), 0}, now_, effects_);
  EXPECT_EQ(count<ReadBody>(), 1u);
  after_restart.read(ref("kept").hash, "kept", now_, effects_);
  ASSERT_EQ(sent<BodyPiece>().size(), 1u);
  EXPECT_EQ(sent<BodyPiece>()[0].second.bytes, "kept");
}

TEST_F(BodiesTest, TriesAgainWhenTheDiskWouldNotTakeIt) {
  bodies_.pin(ref("mine"), std::string("mine"), now_, effects_);
  bodies_.stored(ref("mine").hash, false, now_, effects_);
  EXPECT_FALSE(bodies_.here(ref("mine")));
  pass(seconds(2));
  EXPECT_EQ(count<StoreBody>(), 2u);
}

TEST_F(BodiesTest, AsksEverybodyInTurnForWhatOneOfThemLacks) {
  const BodyRef body = ref("result");
  bodies_.receive(kB, BodyOffer{body}, now_, effects_);
  std::set<NodeId> asked;
  for (int i = 0; i < 4; ++i) {
    const NodeId last = sent<BodyWanted>().back().first;
    asked.insert(last);
    bodies_.receive(last, BodyMissing{body.hash, false}, now_, effects_);
    pass(seconds(1));
  }
  EXPECT_EQ(asked, (std::set<NodeId>{kB, kC}));
}

}  // namespace
}  // namespace muster::cluster
