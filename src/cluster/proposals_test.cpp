#include "cluster/proposals.h"

#include <gtest/gtest.h>

#include "cluster/command_codec.h"
#include "cluster/ledger_fixture.h"
#include "cluster/world.h"

namespace muster::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ProposalsTest : public ::testing::Test {
 protected:
  ProposalsTest() : proposals_(kManagerA, {}) { lead(kManagerA.node, 1); }

  void lead(NodeId leader, std::uint64_t term) {
    proposals_.standing({leader, term, true, {kManagerA.node, kManagerB.node}}, bodies_, now_, effects_);
  }
  std::size_t proposed() const {
    std::size_t found = 0;
    for (const Effect& effect : effects_) found += std::holds_alternative<Propose>(effect) ? 1u : 0u;
    return found;
  }
  std::size_t forwarded() const {
    std::size_t found = 0;
    for (const Effect& effect : effects_) {
      const auto* sent = std::get_if<Send>(&effect);
      found += sent != nullptr && std::holds_alternative<Forward>(sent->message) ? 1u : 0u;
    }
    return found;
  }

  base::Instant now_{std::chrono::hours(1)};
  Proposals proposals_;
  Bodies bodies_{kManagerA, test_hash, {}, {}, now_};
  Effects effects_;
};

TEST_F(ProposalsTest, OneProposalAboutOneThingAtATime) {
  EXPECT_TRUE(proposals_.propose(JobForgotten{kJob}, now_, effects_));
  EXPECT_FALSE(proposals_.propose(JobForgotten{kJob}, now_, effects_));
  EXPECT_TRUE(proposals_.propose(JobForgotten{JobId{2}}, now_, effects_));
  EXPECT_EQ(proposed(), 2u);
}

TEST_F(ProposalsTest, IsOverWhenItsEntryIsApplied) {
  const auto sequence = proposals_.propose(JobForgotten{kJob}, now_, effects_);
  EXPECT_FALSE(proposals_.applied({kManagerB, *sequence, JobForgotten{kJob}}, now_));
  EXPECT_FALSE(proposals_.applied({{kManagerA.node, Life{9}}, *sequence, JobForgotten{kJob}}, now_));
  EXPECT_TRUE(proposals_.applied({kManagerA, *sequence, JobForgotten{kJob}}, now_));
  EXPECT_FALSE(proposals_.under_way(subject_of(JobForgotten{kJob})));
}

TEST_F(ProposalsTest, GoesToAnotherLeaderAsTheSameProposal) {
  proposals_.propose(JobForgotten{kJob}, now_, effects_);
  lead(kManagerB.node, 2);
  EXPECT_EQ(forwarded(), 1u);
  const auto first = decode_entry(std::get<Propose>(effects_.front()).entry);
  const auto second = decode_entry(std::get<Forward>(std::get<Send>(effects_.back()).message).entry);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
}

TEST_F(ProposalsTest, IsForwardedAgainUntilItTimesOut) {
  lead(kManagerB.node, 2);
  proposals_.propose(JobForgotten{kJob}, now_, effects_);
  std::size_t timed_out = 0;
  for (int i = 0; i < 60; ++i) {
    now_ += milliseconds(100);
    timed_out += proposals_.wake(bodies_, now_, effects_).size();
  }
  EXPECT_EQ(timed_out, 1u);
  EXPECT_GE(forwarded(), 9u);
  EXPECT_EQ(proposals_.size(), 0u);
}

TEST_F(ProposalsTest, IsNotSentAgainWhileItNamesWhatTheMembersThatAreLeftDoNotHold) {
  const BodyRef bundle{test_hash("bundle"), 6};
  bodies_.voters({kManagerA.node});
  bodies_.pin(bundle, "bundle", now_, effects_);
  bodies_.stored(bundle.hash, true, now_, effects_);
  ASSERT_TRUE(bodies_.on_majority(bundle));
  JobAccepted accepted;
  accepted.job = kJob;
  accepted.bundle = bundle;
  lead(kManagerB.node, 2);
  proposals_.propose(accepted, now_, effects_);
  EXPECT_EQ(forwarded(), 1u);
  bodies_.voters({kManagerA.node, kManagerB.node, NodeId{77}});
  lead(kManagerB.node, 3);
  now_ += seconds(1);
  EXPECT_TRUE(proposals_.wake(bodies_, now_, effects_).empty());
  EXPECT_EQ(forwarded(), 1u);
  bodies_.voters({kManagerA.node});
  now_ += seconds(1);
  EXPECT_TRUE(proposals_.wake(bodies_, now_, effects_).empty());
  EXPECT_EQ(forwarded(), 2u);
}

TEST_F(ProposalsTest, TheCircuitOpensAfterThreeTimeOutsAndTriesAgainAfterTenSeconds) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(proposals_.allow(now_));
    proposals_.propose(JobForgotten{kJob}, now_, effects_);
    now_ += seconds(6);
    EXPECT_EQ(proposals_.wake(bodies_, now_, effects_).size(), 1u);
  }
  EXPECT_FALSE(proposals_.allow(now_));
  now_ += seconds(10);
  EXPECT_TRUE(proposals_.allow(now_));
  EXPECT_FALSE(proposals_.allow(now_));
  const auto sequence = proposals_.propose(JobForgotten{kJob}, now_, effects_);
  proposals_.applied({kManagerA, *sequence, JobForgotten{kJob}}, now_);
  EXPECT_TRUE(proposals_.allow(now_));
}

}  // namespace
}  // namespace muster::cluster
