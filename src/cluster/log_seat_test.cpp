#include "cluster/log_seat.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/self_fixture.h"

namespace muster::cluster {
namespace {

using std::chrono::milliseconds;

// One node that is a group by itself, and its disk.
class LogSeatTest : public testing::Test {
 protected:
  LogSeatTest() {
    options_.founders = {kSelf};
    options_.snapshot_after = 4;
    open();
  }

  void open() {
    auto opened = LogSeat::open(kSelf, options_, journal_, 7, now_);
    ASSERT_TRUE(opened) << opened.error().message;
    seat_.emplace(std::move(*opened));
    journal_.resize(seat_->valid_bytes());
  }
  // Carries out everything; entries go to `applied`.
  void settle(bool persist = true) {
    for (LogEffects effects = seat_->take(); !effects.empty(); effects = seat_->take()) {
      for (const LogWrite& write : effects.writes) {
        if (!persist) continue;
        journal_ = write.anew ? write.bytes : journal_ + write.bytes;
        seat_->persisted(write.what.ticket, now_);
      }
      for (const cores::RaftApply& each : effects.applies) {
        if (const auto* snapshot = std::get_if<cores::RaftSnapshot>(&each)) {
          restored_ = snapshot->bytes();
          seat_->applied(snapshot->index);
          continue;
        }
        const auto& entry = std::get<cores::RaftEntry>(each);
        if (entry.kind == cores::RaftEntryKind::kCommand) applied_.push_back(entry.command);
        seat_->applied(entry.index);
      }
    }
  }
  void lead() {
    for (int i = 0; i < 100 && !seat_->raft().leads(); ++i) {
      now_ += milliseconds(50);
      seat_->wake(now_);
      settle();
    }
    ASSERT_TRUE(seat_->raft().leads());
  }

  LogSeatOptions options_;
  std::string journal_;
  std::optional<LogSeat> seat_;
  std::vector<std::string> applied_;
  std::string restored_;
  base::Instant now_{std::chrono::hours(1)};
};

TEST_F(LogSeatTest, RefusesMoreFoundersThanALogCanHave) {
  LogSeatOptions options;
  for (std::uint64_t i = 1; i <= cores::kRaftMaxMembers + 1; ++i) options.founders.push_back(NodeId{i});
  EXPECT_EQ(LogSeat::open(kSelf, options, "", 7, now_).error().message,
            "33 founding members; a log is kept by at most 32");
  options.founders = {kSelf, NodeId{2}, kSelf};
  EXPECT_EQ(LogSeat::open(kSelf, options, "", 7, now_).error().message,
            "a founding member is named twice; name each once");
}

TEST_F(LogSeatTest, GivesBackWhatWasProposedOnceItIsCommitted) {
  lead();
  seat_->propose("a", now_);
  seat_->propose("b", now_);
  settle();
  EXPECT_EQ(applied_, (std::vector<std::string>{"a", "b"}));
}

TEST_F(LogSeatTest, StandsWhereTheLogStands) {
  EXPECT_EQ(seat_->standing(now_).leader, kNoNode);
  EXPECT_FALSE(seat_->standing(now_).caught_up);
  lead();
  const LogStanding standing = seat_->standing(now_);
  EXPECT_EQ(standing.leader, kSelf);
  EXPECT_TRUE(standing.caught_up);
  EXPECT_EQ(standing.voters, std::vector<NodeId>{kSelf});
}

TEST_F(LogSeatTest, DoesNotBecomeCurrentWhileEntriesWaitToBeApplied) {
  lead();
  for (const char* each : {"a", "b", "c"}) seat_->propose(each, now_);
  for (const LogWrite& write : seat_->take().writes) seat_->persisted(write.what.ticket, now_);
  const LogEffects effects = seat_->take();
  ASSERT_EQ(effects.applies.size(), 3u);
  EXPECT_FALSE(seat_->standing(now_).caught_up);
  seat_->applied(std::get<cores::RaftEntry>(effects.applies[1]).index);
  EXPECT_FALSE(seat_->standing(now_).caught_up);
  seat_->applied(std::get<cores::RaftEntry>(effects.applies[2]).index);
  EXPECT_TRUE(seat_->standing(now_).caught_up);
}

TEST_F(LogSeatTest, StaysCurrentWhileItAppliesWhatComesIn) {
  lead();
  EXPECT_TRUE(seat_->standing(now_).caught_up);
  seat_->propose("a", now_);
  for (const LogWrite& write : seat_->take().writes) seat_->persisted(write.what.ticket, now_);
  ASSERT_EQ(seat_->take().applies.size(), 1u);
  EXPECT_TRUE(seat_->standing(now_).caught_up);
}

TEST_F(LogSeatTest, FindsItsEntriesAgainAfterARestart) {
  lead();
  seat_->propose("a", now_);
  settle();
  applied_.clear();
  open();
  lead();
  EXPECT_EQ(applied_, std::vector<std::string>{"a"});
}

TEST_F(LogSeatTest, BeginsWithTheSnapshotAfterARestart) {
  lead();
  for (const char* each : {"a", "b", "c", "d"}) seat_->propose(each, now_);
  settle();
  ASSERT_TRUE(seat_->wants_snapshot());
  ASSERT_TRUE(seat_->compact("the state"));
  EXPECT_FALSE(seat_->wants_snapshot());
  settle();
  applied_.clear();
  open();
  settle();
  EXPECT_EQ(restored_, "the state");
}

TEST_F(LogSeatTest, DoesNotOpenAJournalThatLostWhatWasDurable) {
  lead();
  for (const char* each : {"a", "b", "c", "d"}) seat_->propose(each, now_), settle();
  journal_[journal_.size() / 3] = static_cast<char>(journal_[journal_.size() / 3] ^ 0x40);
  EXPECT_FALSE(LogSeat::open(kSelf, options_, journal_, 7, now_));
}

TEST_F(LogSeatTest, SaysNothingBeforeTheDiskHasIt) {
  options_.founders = {kSelf, NodeId{2}, NodeId{3}};
  journal_.clear();
  open();
  cores::RaftMessage request;
  request.term = 5;
  request.body = cores::RaftVoteRequest{.transfer = true, .asked = 5, .last_index = 9, .last_term = 4};
  seat_->receive(NodeId{2}, request, now_);
  const LogEffects effects = seat_->take();
  EXPECT_TRUE(effects.sends.empty());
  ASSERT_FALSE(effects.writes.empty());
  seat_->persisted(effects.writes.back().what.ticket, now_);
  EXPECT_FALSE(seat_->take().sends.empty());
}

TEST_F(LogSeatTest, SendsNothingMoreOnceTheDiskFailed) {
  options_.founders = {kSelf, NodeId{2}, NodeId{3}};
  journal_.clear();
  open();
  cores::RaftMessage request;
  request.term = 5;
  request.body = cores::RaftVoteRequest{.transfer = true, .asked = 5, .last_index = 9, .last_term = 4};
  seat_->receive(NodeId{2}, request, now_);
  static_cast<void>(seat_->take());
  seat_->failed(now_);
  EXPECT_TRUE(seat_->take().sends.empty());
}

}  // namespace
}  // namespace muster::cluster
