#include "sim/cluster_oracle_leases.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "cluster/gate_ledger_fixture.h"

namespace muster::sim {
namespace {

using cluster::kGateA;
using cluster::kGateB;
using cluster::RenewalId;
using std::chrono::seconds;

struct Idle final : Process {
  void start(Host&) override {}
  void receive(Host&, const Packet&) override {}
  void wake(Host&) override {}
  void written(Host&, WriteTicket, bool) override {}
};

struct Idlers final : World {
  void begin(Kernel&) override {}
  std::unique_ptr<Process> boot(base::NodeId) override { return std::make_unique<Idle>(); }
};

// Two gates, the first of which has submitted a job.
struct ClusterLeasesTest : testing::Test {
  Idlers world;
  Kernel kernel{1, world, {}};
  ClusterLeases leases{kernel};
  cluster::GateLedgerFixture gates;
  std::uint64_t sequence = 0;

  ClusterLeasesTest() {
    for (const cluster::Process& gate : {kGateA, kGateB}) {
      kernel.add(gate.node);
      kernel.start(gate.node);
      leases.begins(gate);
    }
    cluster::JobSubmitted submitted;
    submitted.job = cluster::kJob;
    submitted.owner = kGateA;
    submitted.renewal = RenewalId{1};
    submitted.outline.workflows.emplace_back();
    submitted.outline.name = "job";
    submitted.outline.workflows[0].name = "first";
    submitted.datacenters = {"east"};
    const cluster::GateEntry entry = propose(std::move(submitted));
    commit(entry);
    commit(entry);
  }
  cluster::GateEntry propose(cluster::GateCommand command, const cluster::Process& by = kGateA) {
    cluster::GateEntry entry{by, ++sequence, std::move(command)};
    leases.proposed(entry, gates.ledger);
    return entry;
  }
  void commit(const cluster::GateEntry& entry) {
    gates.ledger.apply(gates.ledger.index() + 1, entry);
    leases.committed(entry, gates.ledger, true);
  }
  static cluster::LeasesRenewed renewal(std::uint64_t name) {
    return {kGateA, {{cluster::kJob, 1, RenewalId{name}, 0}}};
  }
  static cluster::LeaseMoved move(std::uint64_t last, const cluster::Process& to) {
    return {cluster::kJob, 2, RenewalId{last}, RenewalId{100}, to};
  }
  void wait(base::Duration length) { kernel.run(kernel.elapsed() + length); }
  std::string violated() {
    const Record& record = kernel.record();
    return record.violation ? record.violation->invariant : "";
  }
};

TEST_F(ClusterLeasesTest, LetAGateActWithinItsLease) {
  wait(seconds(29));
  leases.acts(kGateA, cluster::kJob, 1);
  EXPECT_EQ(violated(), "");
}

TEST_F(ClusterLeasesTest, SeeAGateThatActsAfterItsLease) {
  wait(seconds(30));
  leases.acts(kGateA, cluster::kJob, 1);
  EXPECT_EQ(violated(), "10");
}

TEST_F(ClusterLeasesTest, CountFromWhenARenewalWasSentNotFromWhenItWasTold) {
  wait(seconds(10));
  const cluster::GateEntry entry = propose(renewal(2));
  wait(seconds(15));
  commit(entry);
  wait(seconds(14));
  leases.acts(kGateA, cluster::kJob, 1);
  EXPECT_EQ(violated(), "");
  wait(seconds(1));
  leases.acts(kGateA, cluster::kJob, 1);
  EXPECT_EQ(violated(), "10");
}

TEST_F(ClusterLeasesTest, CountARenewalThatIsSentAgainFromTheFirstTime) {
  const cluster::GateEntry entry = propose(renewal(2));
  commit(entry);
  wait(seconds(10));
  leases.proposed(entry, gates.ledger);
  commit(entry);
  wait(seconds(20));
  leases.acts(kGateA, cluster::kJob, 1);
  EXPECT_EQ(violated(), "10");
}

TEST_F(ClusterLeasesTest, CountNoRenewalThatTheLogDoesNotTellOf) {
  wait(seconds(10));
  propose(renewal(2));
  wait(seconds(20));
  leases.acts(kGateA, cluster::kJob, 1);
  EXPECT_EQ(violated(), "10");
}

TEST_F(ClusterLeasesTest, SeeAGateThatActsAfterItHandedOver) {
  propose(move(1, kGateB));
  leases.acts(kGateA, cluster::kJob, 1);
  EXPECT_EQ(violated(), "10");
}

TEST_F(ClusterLeasesTest, SeeANewOwnerThatActsBeforeARenewalOfItsOwn) {
  wait(seconds(31));
  commit(propose(move(1, kGateB), kGateB));
  EXPECT_EQ(violated(), "");
  leases.acts(kGateB, cluster::kJob, 2);
  EXPECT_EQ(violated(), "10");
}

TEST_F(ClusterLeasesTest, SeeALeaseThatIsMovedWhileItsHolderHasIt) {
  wait(seconds(29));
  commit(propose(move(1, kGateB), kGateB));
  EXPECT_EQ(violated(), "8");
}

TEST_F(ClusterLeasesTest, LetALeaseMoveThatIsOverHandedOverOrOfAGateThatIsGone) {
  commit(propose(move(1, kGateB), kGateA));
  EXPECT_EQ(violated(), "");
  cluster::LeaseMoved back = move(100, kGateA);
  back.epoch = 3;
  kernel.crash(kGateB.node);
  commit(propose(back, kGateA));
  EXPECT_EQ(violated(), "");
}

TEST_F(ClusterLeasesTest, PassOverAMoveThatARenewalCameBefore) {
  wait(seconds(10));
  commit(propose(renewal(2)));
  commit(propose(move(1, kGateB), kGateB));
  EXPECT_EQ(violated(), "");
}

// The job runs at the datacenter of this manager.
struct ClusterSlotsTest : ClusterLeasesTest {
  static constexpr base::NodeId kManager{101};

  ClusterSlotsTest() {
    commit(propose(cluster::SlotOffered{{cluster::kJob, 1, 0, 1}, "east", false}));
    commit(propose(cluster::SlotAccepted{{cluster::kJob, 1, 0, 1}}));
  }
  void push(std::uint64_t epoch) {
    cluster::WindowPush push;
    push.job = cluster::kJob;
    push.epoch = epoch;
    leases.hears(kGateA, kManager, push);
  }
  cluster::SlotLost lost() { return {{cluster::kJob, 1, 0, 1}, RenewalId{1}, cluster::SlotLoss::kUnheard, ""}; }
};

TEST_F(ClusterSlotsTest, LetADatacenterBeLostThatIsSilent) {
  push(1);
  wait(seconds(30));
  propose(lost());
  EXPECT_EQ(violated(), "");
}

TEST_F(ClusterSlotsTest, SeeADatacenterGivenUpThatWasHeardOf) {
  push(1);
  wait(seconds(29));
  propose(lost());
  EXPECT_EQ(violated(), "failed-cause");
}

TEST_F(ClusterSlotsTest, CountNoWordOfAManagerThatLeadsTheJobNoMore) {
  push(2);
  wait(seconds(20));
  push(1);
  wait(seconds(10));
  propose(lost());
  EXPECT_EQ(violated(), "");
}

}  // namespace
}  // namespace muster::sim
