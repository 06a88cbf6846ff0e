#include "sim/cluster_echoes.h"

#include <gtest/gtest.h>

#include "cluster/command_codec.h"
#include "cluster/message_codec.h"
#include "sim/cluster_oracles_fixture.h"

namespace muster::sim {
namespace {

class Echoes : public ClusterOracles {
 protected:
  bool hear(base::NodeId node, const cluster::Message& message) {
    std::string frame = "M";
    cluster::encode(message, frame);
    return echoes_.heard(node, {.from = {}, .sender = kManager, .channel = Channel::kStream, .bytes = frame}, message);
  }
  static cluster::Dispatch dispatch(Fence fence) {
    cluster::Dispatch made;
    made.part = {kJob, 0, 0};
    made.fence = fence;
    return made;
  }
  static cluster::Forward proposal(std::uint64_t sequence) {
    cluster::Forward forward;
    cluster::encode(cluster::Entry{kOwner, sequence, cluster::PartLost{{kJob, 0, 0}, {1, 1}, 1, cluster::Loss::kStuck}},
                    forward.entry);
    return forward;
  }
  void send(base::NodeId worker, const cluster::Dispatch& order) {
    echoes_.leaves(order, {.sender = kManager, .from = {}, .to = worker, .proposal = false, .sent = {}, .frame = "M"});
  }
  // Under the admission that was in force, or none.
  cluster::Dispatch to_worker(Fence fence) {
    cluster::Dispatch made = dispatch(fence);
    made.worker_life = Life{1};
    made.admission = log_.admission(0, {kWorker, Life{1}});
    return made;
  }
  // The first sequence of a proposal that gets through, or that does not.
  std::uint64_t passing() { return first(true); }
  std::uint64_t kept_back() { return first(false); }

  static constexpr base::NodeId kLeader{102};  // of the log
  ClusterEchoes echoes_{log_};

 private:
  std::uint64_t first(bool passes) {
    std::uint64_t sequence = 1;
    for (ClusterEchoes trial(log_);; ++sequence) {
      std::string frame = "M";
      cluster::encode(cluster::Message(proposal(sequence)), frame);
      if (trial.heard(kLeader, {.from = {}, .sender = kManager, .channel = Channel::kStream, .bytes = frame},
                      proposal(sequence)) == passes)
        return sequence;
    }
  }
};

TEST_F(Echoes, ADispatchComesAgainOnceItsWorkerHasHeardOfAHigherFence) {
  hear(kWorker, dispatch({1, 1}));
  hear(kWorker, dispatch({1, 1}));
  hear(kOther, dispatch({1, 2}));
  EXPECT_TRUE(echoes_.take().empty());
  hear(kWorker, dispatch({1, 2}));
  const auto echoes = echoes_.take();
  ASSERT_EQ(echoes.size(), 1u);
  EXPECT_EQ(echoes[0].to, kWorker);
  EXPECT_EQ(echoes[0].sender, kManager);
  const auto message = cluster::decode_message(std::string_view(echoes[0].frame).substr(1));
  ASSERT_TRUE(message);
  EXPECT_EQ(std::get<cluster::Dispatch>(*message), dispatch({1, 1}));
  EXPECT_TRUE(echoes_.take().empty());
}

TEST_F(Echoes, AnEchoSupersedesNothing) {
  hear(kWorker, dispatch({1, 2}));
  hear(kWorker, dispatch({1, 1}));
  EXPECT_TRUE(echoes_.take().empty());
}

TEST_F(Echoes, ADispatchThatNeverArrivedComesOnceItsWorkerWasEvictedAndIsBack) {
  commit(cluster::WorkerAdmitted{{kWorker, Life{1}}, 4});
  send(kWorker, to_worker({1, 1}));
  EXPECT_TRUE(echoes_.take().empty());
  commit(cluster::WorkerEvicted{{kWorker, Life{1}}});
  EXPECT_TRUE(echoes_.take().empty());
  commit(cluster::WorkerAdmitted{{kWorker, Life{1}}, 4});
  const auto echoes = echoes_.take();
  ASSERT_EQ(echoes.size(), 1u);
  EXPECT_EQ(echoes[0].to, kWorker);
  EXPECT_FALSE(echoes[0].proposal);
  EXPECT_TRUE(echoes_.take().empty());
}

TEST_F(Echoes, ADispatchThatNeverArrivedDoesNotComeWhileItsWorkerStillHasThePart) {
  provision();
  send(kWorker, to_worker({1, 1}));
  commit(cluster::WorkerEvicted{{kWorker, Life{1}}});
  commit(cluster::WorkerAdmitted{{kWorker, Life{1}}, 4});
  EXPECT_TRUE(echoes_.take().empty());
  commit(cluster::PartLost{{kJob, 0, 0}, {1, 1}, 1, cluster::Loss::kNotRunning});
  EXPECT_EQ(echoes_.take().size(), 1u);
}

TEST_F(Echoes, ADispatchThatArrivedOrWasStoppedIsNoneThatNeverArrived) {
  commit(cluster::WorkerAdmitted{{kWorker, Life{1}}, 4});
  send(kWorker, to_worker({1, 1}));
  hear(kWorker, to_worker({1, 1}));
  send(kWorker, to_worker({1, 2}));
  hear(kWorker, cluster::StopPart{{kJob, 0, 0}, {1, 2}, 1, cluster::StopReason::kRevoked});
  commit(cluster::WorkerEvicted{{kWorker, Life{1}}});
  commit(cluster::WorkerAdmitted{{kWorker, Life{1}}, 4});
  for (const auto& echo : echoes_.take()) EXPECT_NE(echo.frame, "M");
}

TEST_F(Echoes, ADispatchIsNoneThatNeverArrivedIfAnotherCopyArrived) {
  provision();
  send(kWorker, to_worker({1, 1}));
  hear(kWorker, to_worker({1, 1}));
  send(kWorker, to_worker({1, 1}));
  commit(cluster::WorkerEvicted{{kWorker, Life{1}}});
  commit(cluster::WorkerAdmitted{{kWorker, Life{1}}, 4});
  commit(cluster::PartLost{{kJob, 0, 0}, {1, 1}, 1, cluster::Loss::kNotRunning});
  EXPECT_TRUE(echoes_.take().empty());
}

TEST_F(Echoes, ADispatchToAnEarlierLifeOfItsWorkerDoesNotCome) {
  commit(cluster::WorkerAdmitted{{kWorker, Life{1}}, 4});
  send(kWorker, to_worker({1, 1}));
  commit(cluster::WorkerAdmitted{{kWorker, Life{2}}, 4});
  EXPECT_TRUE(echoes_.take().empty());
}

TEST_F(Echoes, AProposalComesAgainOnceAnotherManagerLeadsTheJob) {
  provision();
  hear(kLeader, proposal(passing()));
  EXPECT_TRUE(echoes_.take().empty());
  commit(cluster::JobOwner{kJob, kSuccessor, 2});
  const auto echoes = echoes_.take();
  ASSERT_EQ(echoes.size(), 1u);
  EXPECT_TRUE(echoes[0].proposal);
  // The echo is one itself, and brings no other.
  EXPECT_TRUE(hear(kLeader, proposal(passing())));
  EXPECT_TRUE(echoes_.take().empty());
}

TEST_F(Echoes, SomeProposalsComeOnlyOnceAnotherManagerLeadsTheJob) {
  provision();
  const std::uint64_t sequence = kept_back();
  EXPECT_FALSE(hear(kLeader, proposal(sequence)));
  EXPECT_TRUE(echoes_.take_kept_back().empty());
  commit(cluster::JobOwner{kJob, kSuccessor, 2});
  EXPECT_TRUE(echoes_.take().empty());
  const auto echoes = echoes_.take_kept_back();
  ASSERT_EQ(echoes.size(), 1u);
  EXPECT_TRUE(echoes[0].proposal);
  EXPECT_TRUE(hear(kLeader, proposal(sequence)));
  EXPECT_TRUE(echoes_.take_kept_back().empty());
}

TEST_F(Echoes, NothingIsKeptBackAfterTheEnd) {
  provision();
  const std::uint64_t sequence = kept_back();
  echoes_.end();
  EXPECT_TRUE(hear(kLeader, proposal(sequence)));
}

}  // namespace
}  // namespace muster::sim
