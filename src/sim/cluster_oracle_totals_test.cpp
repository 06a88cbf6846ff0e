#include <gtest/gtest.h>

#include "sim/cluster_oracles_fixture.h"

namespace muster::sim {
namespace {

class TotalsTold : public ClusterOracles {
 protected:
  // What was told of the job's first workflow.
  static cluster::WindowPush push(const cluster::Counts& counts, const cluster::Counts& lost, std::string datacenter) {
    cluster::WindowPush made{.job = kJob, .epoch = 1, .windows = {}, .totals = {}, .datacenter = std::move(datacenter)};
    made.totals.push_back({0, counts, lost, 0, {}});
    return made;
  }
  static cluster::JobEnd end() { return {kJob, 1, cluster::JobState::kCompleted, "", {}}; }
  const cluster::Counts held_ = counts_of(kJob, 0, {0, 4, 4});
};

TEST_F(TotalsTold, ThatAManagerToldWithoutAResultAreSeenAtTheEnd) {
  complete_in_east();
  talk_.leaves(kManager, kGate, push(held_, {}, ""));
  talk_.leaves(kManager, kGate, end());
  EXPECT_EQ(broken(), "");
  talk_.leaves(kManager, kGate, push({1, 1, 0}, {}, ""));
  talk_.booted(kManager);
  talk_.leaves(kManager, kGate, end());
  EXPECT_EQ(broken(), "");
  talk_.leaves(kManager, kGate, push({1, 1, 0}, {}, ""));
  talk_.leaves(kManager, kGate, end());
  EXPECT_EQ(broken(), "18");
}

TEST_F(TotalsTold, ThatLackWhatAManagerHasLostAreSeenAtTheEnd) {
  complete_in_east();
  cluster::Counts more = held_;
  more.add({5, 5, 0});
  talk_.leaves(kManager, kGate, push(more, {5, 5, 0}, ""));
  talk_.leaves(kManager, kGate, end());
  EXPECT_EQ(broken(), "");
  talk_.leaves(kManager, kGate, push(more, {}, ""));
  talk_.leaves(kManager, kGate, end());
  EXPECT_EQ(broken(), "18");
}

TEST_F(TotalsTold, OfALostDatacenterThatAreNotToldAsLostAreSeen) {
  submit_at_gates(of_one_workflow());
  commit_at_gates(cluster::SlotAccepted{{kJob, 1, 0, 1}});
  const cluster::RenewalId heard = gate_ledger_.job(kJob)->slots[0].heard;
  commit_at_gates(cluster::SlotLost{{kJob, 1, 0, 1}, heard, cluster::SlotLoss::kUnheard, ""});
  const cluster::JobEnd lost = cluster::end_message(kJob, *gate_ledger_.job(kJob));
  talk_.leaves(kGate, kClient, push(held_, held_, "east"));
  talk_.leaves(kGate, kClient, lost);
  EXPECT_EQ(broken(), "");
  talk_.leaves(kGate, kClient, push(held_, {}, "east"));
  talk_.parted(kGate, kClient);
  talk_.leaves(kGate, kClient, lost);
  EXPECT_EQ(broken(), "");
  talk_.leaves(kGate, kClient, push(held_, {}, "east"));
  talk_.leaves(kGate, kClient, lost);
  EXPECT_EQ(broken(), "18");
}

}  // namespace
}  // namespace muster::sim
