#include "cluster/datacenter_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/gate_options.h"

namespace muster::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ManagerReport manager(std::uint64_t node, const std::string& datacenter, std::uint32_t free_cores = 8) {
  return {.manager = NodeId{node},
          .datacenter = datacenter,
          .term = 1,
          .leader = node % 10 == 1,
          .has_quorum = true,
          .workers = 4,
          .healthy_workers = 4,
          .free_cores = free_cores,
          .cores = 16};
}

class DatacenterTableTest : public ::testing::Test {
 protected:
  void three(std::uint64_t first, const std::string& name, std::uint32_t free_cores = 8) {
    for (std::uint64_t i = 0; i < 3; ++i) table.report(manager(first + i, name, free_cores));
  }

  DatacenterTable table;
};

TEST_F(DatacenterTableTest, AnUnknownDatacenterIsUnhealthy) {
  EXPECT_EQ(table.health("east"), DatacenterClass::kUnhealthy);
  EXPECT_EQ(table.manager_for("east", 0), kNoNode);
  EXPECT_EQ(table.why_none({}), "no datacenter is known");
}

TEST_F(DatacenterTableTest, IsHealthyWithWorkersAndAMajorityOfManagers) {
  three(11, "east");
  EXPECT_EQ(table.health("east"), DatacenterClass::kHealthy);
  table.died(NodeId{12});
  EXPECT_EQ(table.health("east"), DatacenterClass::kHealthy);
  table.died(NodeId{13});
  EXPECT_EQ(table.health("east"), DatacenterClass::kDegraded);
  table.died(NodeId{11});
  EXPECT_EQ(table.health("east"), DatacenterClass::kUnhealthy);
}

TEST_F(DatacenterTableTest, IsBusyWithoutFreeCores) {
  three(11, "east", 0);
  EXPECT_EQ(table.health("east"), DatacenterClass::kBusy);
}

TEST_F(DatacenterTableTest, IsDegradedWithFewHealthyWorkersAStuckManagerOrNoQuorum) {
  ManagerReport report = manager(11, "east");
  report.healthy_workers = 2;
  table.report(report);
  EXPECT_EQ(table.health("east"), DatacenterClass::kDegraded);
  report = manager(11, "east");
  report.stuck = true;
  table.report(report);
  EXPECT_EQ(table.health("east"), DatacenterClass::kDegraded);
  report = manager(11, "east");
  report.has_quorum = false;
  table.report(report);
  EXPECT_EQ(table.health("east"), DatacenterClass::kDegraded);
  table.report(manager(11, "east"));
  EXPECT_EQ(table.health("east"), DatacenterClass::kHealthy);
}

TEST_F(DatacenterTableTest, IsUnhealthyWithoutWorkers) {
  ManagerReport report = manager(11, "east");
  report.workers = 0;
  report.healthy_workers = 0;
  table.report(report);
  EXPECT_EQ(table.health("east"), DatacenterClass::kUnhealthy);
  EXPECT_EQ(table.why_none(std::vector<std::string>{"east", "west"}),
            "datacenter 'east' has no worker, datacenter 'west' is not known");
}

TEST_F(DatacenterTableTest, OffersToTheHealthyWithMostFreeCoresThenTheBusyThenTheDegraded) {
  three(11, "few", 2);
  three(21, "many", 9);
  three(31, "busy", 0);
  table.report(manager(41, "ill"));
  ManagerReport stuck = manager(41, "ill");
  stuck.stuck = true;
  table.report(stuck);
  EXPECT_THAT(table.order({}), ElementsAre("many", "few", "busy", "ill"));
}

TEST_F(DatacenterTableTest, PrefersWithinAClassOnly) {
  three(11, "few", 2);
  three(21, "many", 9);
  three(31, "busy", 0);
  EXPECT_THAT(table.order(std::vector<std::string>{"few", "busy"}), ElementsAre("few", "many", "busy"));
}

TEST_F(DatacenterTableTest, NeverOffersToTheUnhealthy) {
  three(11, "east");
  for (std::uint64_t i = 11; i < 14; ++i) table.died(NodeId{i});
  EXPECT_THAT(table.order({}), IsEmpty());
}

TEST_F(DatacenterTableTest, AsksTheLeaderOfTheHighestTermFirst) {
  three(11, "east");
  ManagerReport newer = manager(13, "east");
  newer.leader = true;
  newer.term = 2;
  table.report(newer);
  EXPECT_EQ(table.manager_for("east", 0), NodeId{13});
  EXPECT_EQ(table.manager_for("east", 1), NodeId{11});
  EXPECT_EQ(table.manager_for("east", 3), NodeId{13});
  table.died(NodeId{13});
  EXPECT_EQ(table.manager_for("east", 0), NodeId{11});
}

TEST_F(DatacenterTableTest, BelievesTheLeaderAboutWorkersAndCores) {
  three(11, "east", 8);
  table.report(manager(12, "east", 99));
  EXPECT_EQ(table.list().front().free_cores, 8u);
}

TEST_F(DatacenterTableTest, AManagerThatMovesCountsOnce) {
  table.report(manager(11, "east"));
  table.report(manager(11, "west"));
  EXPECT_EQ(table.datacenter_of(NodeId{11}), "west");
  EXPECT_EQ(table.list().size(), 1u);
}

TEST_F(DatacenterTableTest, RemembersABoundedNumber) {
  for (std::uint64_t i = 0; i < kMaxDatacenters; ++i) {
    EXPECT_TRUE(table.report(manager(1000 + i, "d" + std::to_string(i))));
  }
  EXPECT_FALSE(table.report(manager(1, "one more")));
  EXPECT_FALSE(table.report(manager(1, "")));
  EXPECT_FALSE(table.report(manager(1, std::string(kMaxName + 1, 'x'))));
  for (std::uint64_t i = 1; i < kMaxManagers; ++i) EXPECT_TRUE(table.report(manager(2000 + i, "d0")));
  EXPECT_FALSE(table.report(manager(3000, "d0")));
}

}  // namespace
}  // namespace muster::cluster
