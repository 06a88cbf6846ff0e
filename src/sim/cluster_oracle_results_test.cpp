#include <gtest/gtest.h>

#include "sim/cluster_oracles_fixture.h"

namespace muster::sim {
namespace {

using cluster::JobState;
using cluster::PartOutcome;

class ResultsAtGates : public ClusterOracles {
 protected:
  // Tells the user of the job, who asked for it at the gates.
  void tell(const cluster::ClientUpdate& update) {
    cluster::JobRequest request;
    request.job = kJob;
    user_.add(request);
    user_.told(update);
  }

  ClusterUser user_{kernel_, log_, runs_, false};
};

TEST_F(ResultsAtGates, AreAllToldWithTheEnd) {
  tell(completed());
  EXPECT_EQ(broken(), "");
}

TEST_F(ResultsAtGates, ThatAreMissingAtTheEndOfARunAreSeen) {
  provision(of_one_workflow());
  commit(cluster::CancelRequested{kJob, "ada", "", JobState::kCancelled});
  commit(result(PartOutcome::kCancelled));
  commit(cluster::JobEnded{kJob, 1, JobState::kCancelled, ""});
  submit_at_gates(of_one_workflow());
  commit_at_gates(cluster::JobCancelled{kJob, cluster::ClientId{7}, "ada", ""});
  EXPECT_EQ(broken(), "");
  commit_at_gates(run_ended(JobState::kCancelled));
  EXPECT_EQ(broken(), "12");
}

TEST_F(ResultsAtGates, OfARunThatEndedThereAsAnotherAreSeen) {
  complete_in_east();
  commit_at_gates(received());
  EXPECT_EQ(broken(), "");
  commit_at_gates(run_ended(JobState::kFailed));
  EXPECT_EQ(broken(), "16");
}

TEST_F(ResultsAtGates, WithoutWhatTheyLeftAreSeen) {
  complete_in_east();
  cluster::WorkflowReceived bare = received();
  bare.status.results.clear();
  commit_at_gates(bare);
  EXPECT_EQ(broken(), "12");
}

TEST_F(ResultsAtGates, MayBeToldWithoutWhatTheyLeftOnceNobodyCouldBringItForLong) {
  complete_in_east();
  cluster::WorkflowReceived bare = received();
  bare.status.results.clear();
  kernel_.run(setup_.gate.result_patience);
  commit_at_gates(bare);
  EXPECT_EQ(broken(), "");
}

TEST_F(ResultsAtGates, WithWhatAnotherLeftAreSeen) {
  complete_in_east();
  cluster::WorkflowReceived other = received();
  other.status.results = {{hash_body("bundle"), 6}};
  commit_at_gates(other);
  EXPECT_EQ(broken(), "12");
}

TEST_F(ResultsAtGates, ThatAUserNeverHeardOfAreSeenAtTheEnd) {
  cluster::ClientUpdate update = completed();
  update.results.clear();
  tell(update);
  EXPECT_EQ(broken(), "12");
}

TEST_F(ResultsAtGates, ThatACompletedRunDoesNotCountAreSeen) {
  cluster::ClientUpdate update = completed();
  update.ends[0].datacenters[0].workflows_ended = 0;
  tell(update);
  EXPECT_EQ(broken(), "12");
}

TEST_F(ResultsAtGates, ToldWithoutWhatTheyLeftAreSeen) {
  cluster::ClientUpdate update = completed();
  update.results[0].status.results.clear();
  tell(update);
  EXPECT_EQ(broken(), "12");
}

}  // namespace
}  // namespace muster::sim
