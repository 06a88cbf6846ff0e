#include "sim/cluster_oracle_routing.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/nobody_fixture.h"

namespace muster::sim {
namespace {

using cluster::DatacenterClass;

// Which law a gate breaks that offers a job to the east.
std::string broken_by_east(DatacenterClass east, DatacenterClass west, const cluster::GateLedgerJob& job,
                           std::uint32_t offer = 1) {
  Nobody world;
  Kernel kernel{1, world, {}};
  const std::vector<cluster::Datacenter> known = {{.name = "east", .health = east, .free_cores = 4},
                                                  {.name = "west", .health = west, .free_cores = 4}};
  check_choice(kernel, base::NodeId{1}, {{cluster::JobId{1001}, 1, 0, offer}, "east", false}, job, known);
  const auto& violation = kernel.record().violation;
  return violation ? violation->invariant : "";
}

cluster::GateLedgerJob anywhere() {
  cluster::GateLedgerJob job;
  job.slots.resize(1);
  return job;
}

TEST(ClusterRouting, SeesAnOfferToAnUnhealthyDatacenter) {
  cluster::GateLedgerJob named = anywhere();
  named.exact = true;
  EXPECT_EQ(broken_by_east(DatacenterClass::kDegraded, DatacenterClass::kHealthy, named), "");
  EXPECT_EQ(broken_by_east(DatacenterClass::kUnhealthy, DatacenterClass::kUnhealthy, named), "routing");
}

TEST(ClusterRouting, SeesThatABetterOneIsPassedOver) {
  EXPECT_EQ(broken_by_east(DatacenterClass::kBusy, DatacenterClass::kDegraded, anywhere()), "");
  EXPECT_EQ(broken_by_east(DatacenterClass::kBusy, DatacenterClass::kHealthy, anywhere()), "routing");
  EXPECT_EQ(broken_by_east(DatacenterClass::kBusy, DatacenterClass::kHealthy, anywhere(), 2), "");  // west refused
}

TEST(ClusterRouting, SeesWhatIsPreferredWithinAClassAlone) {
  cluster::GateLedgerJob job = anywhere();
  job.datacenters = {"west"};
  EXPECT_EQ(broken_by_east(DatacenterClass::kHealthy, DatacenterClass::kBusy, job), "");
  EXPECT_EQ(broken_by_east(DatacenterClass::kHealthy, DatacenterClass::kHealthy, job), "routing");
  job.datacenters = {"east"};
  EXPECT_EQ(broken_by_east(DatacenterClass::kBusy, DatacenterClass::kHealthy, job), "routing");
}

}  // namespace
}  // namespace muster::sim
