#include "sim/cluster_oracle_limits.h"

#include "sim/cluster_oracles_fixture.h"

namespace muster::sim {
namespace {

using std::chrono::seconds;

class ClusterLimitsTest : public ClusterOracles {
 protected:
  void tell(const cluster::Command& command) {
    commit(command);
    limits_.committed(0, command, ledger_);
  }
  void accept() {
    keep_everywhere(hash_body("bundle"));
    cluster::JobAccepted job = accepted();
    job.outline.time_limit = seconds(40);
    tell(job);
  }

  ClusterLimits limits_{kernel_, log_, runs_};
};

TEST_F(ClusterLimitsTest, SeeAJobThatIsGivenAwayAsYoungerThanItIs) {
  limits_.learns(kManager, kJob);
  kernel_.run(seconds(30));
  limits_.proposes({kManager, Life{1}}, 1, {kJob, kSuccessor, 2, seconds(29)});
  limits_.proposes({base::NodeId{102}, Life{1}}, 1, {kJob, kSuccessor, 2, seconds(0)});
  limits_.proposes({kManager, Life{1}}, 2, {kJob, kSuccessor, 3, seconds(30)});
  kernel_.run(seconds(40));
  limits_.proposes({kManager, Life{1}}, 1, {kJob, kSuccessor, 2, seconds(29)});
  EXPECT_EQ(broken(), "");
  limits_.proposes({kManager, Life{1}}, 3, {kJob, kSuccessor, 3, seconds(30)});
  EXPECT_EQ(broken(), "limit");
}

TEST_F(ClusterLimitsTest, ExpectNothingOfWhoBeginsAnew) {
  limits_.learns(kManager, kJob);
  kernel_.run(seconds(30));
  limits_.begins(kManager);
  limits_.proposes({kManager, Life{2}}, 1, {kJob, kSuccessor, 2, seconds(0)});
  limits_.learns(kManager, kJob);
  limits_.proposes({kManager, Life{2}}, 2, {kJob, kSuccessor, 2, seconds(0)});
  EXPECT_EQ(broken(), "");
}

TEST_F(ClusterLimitsTest, SeeAJobThatGoesOnAfterItsTime) {
  accept();
  kernel_.run(seconds(30));
  tell(cluster::JobOwner{kJob, kSuccessor, 2, seconds(20)});
  kernel_.run(seconds(49) + kGivesUpWithin);
  limits_.check({});
  EXPECT_EQ(broken(), "");
  kernel_.run(seconds(51) + kGivesUpWithin);
  limits_.check(seconds(60));
  EXPECT_EQ(broken(), "");
  limits_.check({});
  EXPECT_EQ(broken(), "limit");
}

TEST_F(ClusterLimitsTest, AreContentOnceItIsGivenUp) {
  accept();
  kernel_.run(seconds(41));
  cluster::CancelRequested cancel;
  cancel.job = kJob;
  tell(cancel);
  kernel_.run(seconds(100) + kGivesUpWithin);
  limits_.check({});
  EXPECT_EQ(broken(), "");
}

}  // namespace
}  // namespace muster::sim
