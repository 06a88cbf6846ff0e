#include "cores/datacenter.h"

#include <gtest/gtest.h>

namespace muster::cores {
namespace {

constexpr DatacenterFacts kWell{
    .managers = 3, .live_managers = 3, .workers = 20, .healthy_workers = 20, .free_cores = 100};

TEST(Datacenter, WithEverythingUpIsHealthy) {
  EXPECT_EQ(classify(kWell), DatacenterClass::kHealthy);
}

TEST(Datacenter, WithoutAManagerOrAWorkerIsUnhealthy) {
  DatacenterFacts facts = kWell;
  facts.live_managers = 0;
  EXPECT_EQ(classify(facts), DatacenterClass::kUnhealthy);
  facts = kWell;
  facts.workers = facts.healthy_workers = 0;
  EXPECT_EQ(classify(facts), DatacenterClass::kUnhealthy);
}

TEST(Datacenter, WithoutAMajorityOfManagersOrHealthyWorkersIsDegraded) {
  DatacenterFacts facts = kWell;
  facts.live_managers = 2;
  EXPECT_EQ(classify(facts), DatacenterClass::kHealthy);
  facts.live_managers = 1;
  EXPECT_EQ(classify(facts), DatacenterClass::kDegraded);
  facts = kWell;
  facts.healthy_workers = 11;
  EXPECT_EQ(classify(facts), DatacenterClass::kHealthy);
  facts.healthy_workers = 10;
  EXPECT_EQ(classify(facts), DatacenterClass::kDegraded);
}

TEST(Datacenter, WithAStuckManagerIsDegraded) {
  DatacenterFacts facts = kWell;
  facts.manager_stuck = true;
  EXPECT_EQ(classify(facts), DatacenterClass::kDegraded);
}

TEST(Datacenter, WithoutAFreeCoreIsBusyUnlessItIsWorse) {
  DatacenterFacts facts = kWell;
  facts.free_cores = 0;
  EXPECT_EQ(classify(facts), DatacenterClass::kBusy);
  facts.live_managers = 1;
  EXPECT_EQ(classify(facts), DatacenterClass::kDegraded);
}

}  // namespace
}  // namespace muster::cores
