#include "sim/cluster_echoes.h"

#include <gtest/gtest.h>

#include "cluster/command_codec.h"
#include "cluster/message_codec.h"
#include "sim/cluster_oracles_fixture.h"

namespace muster::sim {
namespace {

class Echoes : public ClusterOracles {
 protected:
  void hear(base::NodeId node, const cluster::Message& message) {
    std::string frame = "M";
    cluster::encode(message, frame);
    echoes_.heard(node, {.from = {}, .sender = kManager, .channel = Channel::kStream, .bytes = frame}, message);
  }
  static cluster::Dispatch dispatch(Fence fence) {
    cluster::Dispatch made;
    made.part = {kJob, 0, 0};
    made.fence = fence;
    return made;
  }

  ClusterEchoes echoes_;
};

TEST_F(Echoes, ADispatchComesAgainOnceItsWorkerHasHeardOfAHigherFence) {
  hear(kWorker, dispatch({1, 1}));
  hear(kWorker, dispatch({1, 1}));
  hear(kOther, dispatch({1, 2}));
  EXPECT_TRUE(echoes_.take(log_).empty());
  hear(kWorker, dispatch({1, 2}));
  const auto echoes = echoes_.take(log_);
  ASSERT_EQ(echoes.size(), 1u);
  EXPECT_EQ(echoes[0].to, kWorker);
  EXPECT_EQ(echoes[0].sender, kManager);
  const auto message = cluster::decode_message(std::string_view(echoes[0].frame).substr(1));
  ASSERT_TRUE(message);
  EXPECT_EQ(std::get<cluster::Dispatch>(*message), dispatch({1, 1}));
  EXPECT_TRUE(echoes_.take(log_).empty());
}

TEST_F(Echoes, AnEchoSupersedesNothing) {
  hear(kWorker, dispatch({1, 2}));
  hear(kWorker, dispatch({1, 1}));
  EXPECT_TRUE(echoes_.take(log_).empty());
}

TEST_F(Echoes, AProposalComesAgainOnceAnotherManagerLeadsTheJob) {
  provision();
  cluster::Forward forward;
  cluster::encode(cluster::Entry{kOwner, 9, cluster::PartLost{{kJob, 0, 0}, {1, 1}, 1, cluster::Loss::kStuck}},
                  forward.entry);
  hear(base::NodeId{102}, forward);
  EXPECT_TRUE(echoes_.take(log_).empty());
  commit(cluster::JobOwner{kJob, kSuccessor, 2});
  const auto echoes = echoes_.take(log_);
  ASSERT_EQ(echoes.size(), 1u);
  EXPECT_TRUE(echoes[0].proposal);
  EXPECT_TRUE(echoes_.take(log_).empty());
}

}  // namespace
}  // namespace muster::sim
