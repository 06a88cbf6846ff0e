#include "cluster/job.h"

#include <gtest/gtest.h>

#include "cluster/command_codec.h"
#include "cluster/ledger_fixture.h"
#include "cluster/options.h"

namespace muster::cluster {
namespace {

TEST(JobOutline, LayersFollowTheLongestChainOfDependencies) {
  EXPECT_EQ(*layers(outline({{}, {0}, {0, 1}, {}})), (std::vector<std::uint32_t>{0, 1, 2, 0}));
}

TEST(JobOutline, NamesWhatIsWrongWithIt) {
  EXPECT_FALSE(layers(JobOutline{}));
  EXPECT_NE(layers(outline({{1}, {0}})).error().message.find("circle"), std::string::npos);
  JobOutline twice = outline({{}, {}});
  twice.workflows[1].name = twice.workflows[0].name;
  EXPECT_NE(layers(twice).error().message.find("Two workflows"), std::string::npos);
  EXPECT_FALSE(layers(outline(std::vector<std::vector<std::uint32_t>>(kMaxWorkflows + 1))));
}

TEST(JobOutline, FitsIntoACommandAsAWhole) {
  JobOutline wide = outline(std::vector<std::vector<std::uint32_t>>(kMaxWorkflows));
  EXPECT_TRUE(layers(wide));
  for (WorkflowOutline& workflow : wide.workflows) workflow.name.resize(kMaxName, 'x');
  EXPECT_FALSE(layers(wide));
  for (std::size_t i = 0; i < wide.workflows.size(); ++i) {
    wide.workflows[i].name = std::to_string(i) + std::string(140, 'x');
  }
  ASSERT_TRUE(layers(wide));
  std::string bytes;
  encode(Entry{kManagerA, UINT64_MAX, JobAccepted{kJob, kClient, NodeId{9}, UINT64_MAX, kManagerA, body(1), wide}},
         bytes);
  EXPECT_LE(bytes.size(), kMaxCommandBytes);
}

TEST(JobState, TerminalIsFinal) {
  for (std::size_t from = 0; from < kJobStates; ++from) {
    for (std::size_t to = 0; to < kJobStates; ++to) {
      const auto a = static_cast<JobState>(from);
      const auto b = static_cast<JobState>(to);
      if (terminal(a) && a != b) {
        EXPECT_FALSE(legal(a, b)) << to_text(a) << " → " << to_text(b);
      }
    }
  }
  EXPECT_TRUE(legal(JobState::kQueued, JobState::kProvisioning));
  EXPECT_FALSE(legal(JobState::kRunning, JobState::kCompleted));
  EXPECT_FALSE(legal(JobState::kCancelling, JobState::kRunning));
}

TEST(WorkflowState, SkipsOnlyWhatNeverRan) {
  EXPECT_TRUE(legal(WorkflowState::kPending, WorkflowState::kSkipped));
  EXPECT_FALSE(legal(WorkflowState::kRunning, WorkflowState::kSkipped));
  EXPECT_FALSE(legal(WorkflowState::kCompleted, WorkflowState::kRunning));
}

}  // namespace
}  // namespace muster::cluster
