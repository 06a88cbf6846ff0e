#include "cluster/client.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "cluster/world.h"

namespace muster::cluster {
namespace {

using std::chrono::seconds;

// A client whose job a manager has taken on, without gates between them.
class DirectClientTest : public ::testing::Test {
 protected:
  DirectClientTest() {
    EXPECT_TRUE(client_.submit(
        {.job = kJob, .bundle = {test_hash("bundle"), 6}, .bytes = "bundle", .outline = {}, .datacenters = {}}, now_));
    client_.receive(kManager, SubmitAnswer{.job = kJob, .leader = kManager, .epoch = 1, .reason = ""}, now_);
    told();
  }

  static WorkflowEnded ended(std::uint32_t workflow, std::uint64_t epoch = 1) {
    WorkflowStatus status;
    status.workflow = workflow;
    status.state = WorkflowState::kCompleted;
    return {.job = kJob, .epoch = epoch, .status = status};
  }
  ClientUpdate told() {
    client_.take();
    now_ += seconds(1);
    return client_.update(now_).value_or(ClientUpdate{});
  }

  static constexpr JobId kJob{1};
  static constexpr NodeId kManager{11};
  static constexpr NodeId kOther{12};
  base::Instant now_{std::chrono::hours(1)};
  Client client_{{.client = ClientId{7},
                  .self = {NodeId{201}, Life{1}},
                  .gates = {kManager, kOther},
                  .seed = 1,
                  .hash = test_hash,
                  .options = {}},
                 now_};
};

TEST_F(DirectClientTest, IsToldOfEachWorkflowOnceAsItEnds) {
  client_.receive(kManager, ended(1), now_);
  const auto first = told().results;
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].status.workflow, 1u);
  client_.receive(kManager, ended(0), now_);
  client_.receive(kManager, ended(1), now_);
  EXPECT_EQ(told().results.size(), 1u);
  // Another manager that leads the job tells all of it anew.
  for (std::uint32_t i = 0; i < 3; ++i) client_.receive(kOther, ended(i, 2), now_);
  const auto rest = told().results;
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].status.workflow, 2u);
  client_.receive(kManager, ended(3, 1), now_);
  EXPECT_TRUE(told().results.empty()) << "a leader that was";
  client_.receive(kOther, ended(kMaxWorkflows, 2), now_);
  EXPECT_TRUE(told().results.empty());
}

TEST_F(DirectClientTest, WhoFollowsAgainIsToldOnceWhatWasStillToBeTold) {
  client_.receive(kManager, ended(1), now_);
  client_.unfollow(kJob);
  client_.follow(kJob, now_);
  StatusAnswer running;
  running.job = kJob;
  running.leader = kManager;
  running.epoch = 1;
  client_.receive(kManager, running, now_);
  client_.receive(kManager, ended(1), now_);
  EXPECT_EQ(told().results.size(), 1u);
}

TEST_F(DirectClientTest, IsToldWithTheEndOfWhatWasLostOnTheWay) {
  client_.receive(kManager, ended(1), now_);
  EXPECT_EQ(told().results.size(), 1u);
  JobEnd end{.job = kJob, .epoch = 1, .reason = "", .workflows = {ended(0).status, ended(1).status}};
  client_.receive(kManager, end, now_);
  const ClientUpdate last = told();
  ASSERT_EQ(last.results.size(), 1u);
  EXPECT_EQ(last.results[0].status, ended(0).status);
  EXPECT_EQ(last.ends.size(), 1u);
}

}  // namespace
}  // namespace muster::cluster
