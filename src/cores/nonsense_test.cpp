// A hundred thousand well-formed messages that make no sense: what a core keeps of them is bounded, a stranger's change
// nothing, and what is committed stays as it is whoever speaks.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/live_memory_fixture.h"
#include "base/random.h"
#include "cores/raft_codec.h"
#include "cores/raft_solo.h"
#include "cores/swim.h"
#include "cores/swim_codec.h"

namespace muster::cores {
namespace {

constexpr std::size_t kMessages = 100'000;
// Two readings of the allocator differ by so much for no reason.
constexpr std::size_t kNoise = std::size_t{512} << 10;

class Nonsense {
 public:
  explicit Nonsense(std::uint64_t seed) : random(seed) {}

  // Small, about the present, or anything.
  std::uint64_t number(std::uint64_t present, std::uint64_t most = UINT64_MAX) {
    switch (random.below(3)) {
      case 0:
        return std::min(random.below(4), most);
      case 1:
        return std::min(present + random.below(8) - std::min<std::uint64_t>(present, 4), most);
      default:
        return std::min(random.next() >> random.below(64), most);
    }
  }
  bool flag() { return random.below(2) == 0; }
  std::string text(std::size_t most) { return std::string(random.below(most), 'x'); }
  base::Instant stamp(base::Instant present) {
    return flag() ? present : base::Instant(base::Duration(static_cast<std::int64_t>(random.next())));
  }

  base::Random random;
};

class RaftNonsense : public Nonsense {
 public:
  using Nonsense::Nonsense;

  RaftMessage message(const Raft& raft, base::Instant now) {
    for (;;) {
      const RaftMessage made{term(raft), body(raft, now)};
      std::string bytes;
      encode(made, bytes);
      if (auto decoded = decode_raft_message(bytes)) return *std::move(decoded);
    }
  }

 private:
  RaftTerm term(const Raft& raft) { return number(raft.term(), raft.term() + 2); }
  RaftIndex index(const Raft& raft) { return number(raft.log().last(), kRaftMaxTerm); }
  RaftMembers members() {
    return flag() ? RaftMembers{{node(1), node(2), node(3)}, {}} : RaftMembers{{node(2)}, {node(7)}};
  }
  std::vector<RaftEntry> entries(RaftIndex behind, RaftTerm term) {
    std::vector<RaftEntry> made;
    for (std::uint64_t left = random.below(5); left > 0; --left) {
      RaftEntry entry = command_at(++behind, term, text(300));
      if (random.below(8) == 0) entry = {behind, term, RaftEntryKind::kMembers, {}, members()};
      made.push_back(std::move(entry));
    }
    return made;
  }
  decltype(RaftMessage::body) body(const Raft& raft, base::Instant now) {
    const RaftIndex at = index(raft);
    switch (random.below(8)) {
      case 0:
        return RaftVoteRequest{flag(), flag(), term(raft), at, term(raft), index(raft), index(raft)};
      case 1:
        return RaftVoteReply{flag(), flag(), term(raft)};
      case 2:
        return RaftAppend{at, term(raft), index(raft), index(raft), stamp(now), number(1), entries(at, term(raft))};
      case 3:
        return RaftAppendReply{flag(), at, index(raft), term(raft), stamp(now), number(1)};
      case 4: {
        const std::uint64_t total = 1 + random.below(2000);
        const std::uint64_t offset = random.below(total);
        const std::string data(std::min<std::uint64_t>(random.below(1000), total - offset), 's');
        return RaftSnapshotPart{at,     term(raft), members(), index(raft), index(raft), total, random.next(),
                                offset, stamp(now), number(1), data};
      }
      case 5:
        return RaftSnapshotReply{at, flag(), number(10), stamp(now), number(1)};
      case 6:
        return RaftTimeoutNow{};
      default:
        return RaftLoan{at, term(raft), entries(at, term(raft))};
    }
  }
};

TEST(Nonsense, OfMembersLeavesWhatIsCommittedAndTheLogWithinItsBounds) {
  RaftOptions options;
  options.log_entries = 200;
  options.log_bytes = std::size_t{16} << 10;
  RaftSolo solo(image_of({node(1), node(2), node(3)}, {1, 1, 2}, {2, base::kNoNode}), options);
  RaftNonsense nonsense(1);
  std::vector<RaftEntry> applied;
  const std::size_t before = base::live_bytes();
  for (std::size_t i = 0; i < kMessages; ++i) {
    solo.now += std::chrono::milliseconds(1);
    solo.raft.receive(node(1 + nonsense.random.below(4)), nonsense.message(solo.raft, solo.now), solo.now);
    if (solo.raft.deadline() <= solo.now) solo.raft.wake(solo.now);
    solo.settle();
    for (const RaftApply& each : solo.applies) {
      if (const auto* entry = std::get_if<RaftEntry>(&each)) {
        ASSERT_TRUE(applied.empty() || entry->index > applied.back().index);
        applied.push_back(*entry);
      }
    }
    solo.writes.clear();
    solo.sends.clear();
    solo.applies.clear();
    solo.answers.clear();
    solo.standings.clear();
    ASSERT_LE(solo.raft.log().last() - solo.raft.log().snapshot().index, options.log_entries);
    if (applied.size() > 100) applied.erase(applied.begin(), applied.end() - 1);
  }
  EXPECT_LE(base::live_bytes(), before + kNoise);
}

TEST(Nonsense, OfStrangersDoesNothingAtAll) {
  const base::Instant now(std::chrono::seconds(1000));
  RaftImage image = image_of({node(1), node(2), node(3)}, {1, 1, 2}, {2, base::kNoNode});
  Raft raft(node(1), {}, 1, std::move(image), now);
  raft.receive(node(2), {2, RaftAppend{3, 2, 3, 0, now, 1, {}}}, now);
  raft.take();
  const base::Instant deadline = raft.deadline();
  RaftNonsense nonsense(1);
  for (std::size_t i = 0; i < kMessages; ++i) {
    raft.receive(node(4 + nonsense.random.below(100)), nonsense.message(raft, now), now);
    ASSERT_TRUE(raft.take().empty());
  }
  EXPECT_EQ(raft.term(), 2u);
  EXPECT_EQ(raft.log().last(), 3u);
  EXPECT_EQ(raft.deadline(), deadline);
}

class SwimNonsense : public Nonsense {
 public:
  using Nonsense::Nonsense;

  std::string packet(std::uint64_t group) { return encode_swim({.group = group, .message = {body(), claims(4)}}); }

 private:
  base::NodeId name() { return base::NodeId{1 + random.below(flag() ? 8 : 1'000'000)}; }
  Endpoint address() { return ipv4_endpoint(static_cast<std::uint32_t>(random.below(flag() ? 8 : 1'000'000)), 9000); }
  StateClaim state(std::uint64_t most) {
    return {number(2, most), number(2), std::string_view(kState).substr(0, random.below(kState.size()))};
  }
  std::vector<Claim> claims(std::uint64_t most) {
    std::vector<Claim> made;
    for (std::uint64_t left = random.below(most); left > 0; --left) {
      const std::uint64_t incarnation = number(3, kMaxIncarnation);
      made.push_back(
          {static_cast<MemberStatus>(random.below(4)), name(), incarnation, name(), address(), state(incarnation)});
    }
    return made;
  }
  SwimBody body() {
    switch (random.below(6)) {
      case 0:
        return Ping{number(1), name()};
      case 1:
        return Ack{number(1), name(), state(kMaxIncarnation)};
      case 2:
        return PingRequest{number(1), name(), address()};
      case 3:
        return Nack{number(1)};
      case 4:
        // Requests are answered with the whole view, which takes its time.
        return Exchange{random.below(50) != 0, flag(), claims(100)};
      default:
        return Rumours{};
    }
  }

  const std::string kState = std::string(100, 's');
};

// A member of the group that invents nodes: the table fills, and all else stays as small as it was.
TEST(Nonsense, LeavesAMembersTablesWithinTheirBounds) {
  base::Instant now(std::chrono::hours(1));
  SwimOptions options = swim_lan();
  options.group = 99;
  Swim swim({.id = node(1), .address = ipv4_endpoint(1, 9000), .incarnation = 3, .state = "me"}, options, 7, now);
  SwimNonsense nonsense(1);
  const std::size_t before = base::live_bytes();
  for (std::size_t i = 0; i < kMessages; ++i) {
    now += std::chrono::microseconds(100);
    const SwimChannel channel = nonsense.flag() ? SwimChannel::kDatagram : SwimChannel::kStream;
    swim.receive(node(2 + nonsense.random.below(6)), ipv4_endpoint(2, 9000), channel, nonsense.packet(99), now);
    if (swim.deadline() <= now) swim.wake(now);
    swim.take();
  }
  EXPECT_LE(swim.members().size(), kMaxMembers);
  EXPECT_GT(swim.members().size(), kMaxMembers / 2);
  EXPECT_LE(swim.gossip().size(), options.max_queued_updates);
  EXPECT_LE(swim.audit().size(), options.audit_entries);
  // A member with its state, in the table, in the index and among the gone or the suspected.
  constexpr std::size_t kMember = 100 + 48 + 160 + 300;
  EXPECT_LE(base::live_bytes(), before + kMaxMembers * kMember + options.max_queued_updates * 400 + kNoise);
}

}  // namespace
}  // namespace muster::cores
