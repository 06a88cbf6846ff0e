#include "cluster/gate_ledger_codec.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "cluster/gate_ledger_fixture.h"

namespace muster::cluster {
namespace {

// A life of the ledger: whatever comes, under fences that are right now and then.
class RandomLife : public GateLedgerFixture {
 public:
  explicit RandomLife(std::uint64_t seed) : random_(seed) {}

  void step() {
    const JobId id{1 + random_.below(4)};
    const GateLedgerJob* found = ledger.job(id);
    if (found == nullptr) {
      submit(id, {"a", "b"}, random_.below(2) == 0, 2);
      return;
    }
    const auto slot = static_cast<std::uint32_t>(random_.below(2));
    SlotFence fence{id, found->epoch - (random_.below(8) == 0 ? 1 : 0), slot, found->slots[slot].offer};
    const std::string name(1, static_cast<char>('a' + random_.below(4)));
    switch (random_.below(10)) {
      case 0:
      case 1:
        ++fence.offer;
        apply(SlotOffered{fence, name, random_.below(2) == 0});
        return;
      case 2:
        apply(SlotAccepted{fence});
        return;
      case 3:
        apply(WorkflowReceived{fence, status(static_cast<std::uint32_t>(random_.below(2)))});
        return;
      case 4:
        apply(SlotEnded{fence, JobState::kPartial, "some", std::chrono::seconds(1)});
        return;
      case 5:
        apply(SlotLost{fence, found->slots[slot].heard, static_cast<SlotLoss>(random_.below(2)), "gone"});
        return;
      case 6:
        apply(LeasesRenewed{found->owner, {{id, found->epoch, fresh(), random_.next()}}});
        return;
      case 7:
        apply(LeaseMoved{id, found->epoch + 1, found->renewal, fresh(), random_.below(2) == 0 ? kGateA : kGateB});
        return;
      case 8:
        apply(random_.below(8) == 0 ? GateCommand(JobCancelled{id, kClient, "me", "enough"})
                                    : GateCommand(SlotFailed{fence, JobState::kTimeout, false, "late"}));
        return;
      default:
        apply(random_.below(2) == 0 ? GateCommand(EndAcknowledged{id}) : GateCommand(GateJobForgotten{id}));
    }
  }

 private:
  base::Random random_;
};

RC_GTEST_PROP(GateLedgerCodec, ALedgerComesBackAsItWasAtAnyTime, (std::uint64_t seed)) {
  RandomLife life(seed);
  for (int i = 0; i < 200; ++i) {
    life.step();
    std::string bytes;
    encode(life.ledger, bytes);
    const auto decoded = decode_gate_ledger(bytes);
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(*decoded == life.ledger);
    RC_ASSERT(decoded->digest() == life.ledger.digest());
  }
}

RC_GTEST_PROP(GateLedgerCodec, EpochsNeverFallAndEndsAreFinal, (std::uint64_t seed)) {
  RandomLife life(seed);
  for (int i = 0; i < 300; ++i) {
    const auto before = life.ledger.jobs();
    life.step();
    for (const auto& [id, job] : before) {
      const GateLedgerJob* now = life.ledger.job(id);
      if (now == nullptr || now->submitted != job.submitted) continue;
      RC_ASSERT(now->epoch >= job.epoch);
      RC_ASSERT(now->results.size() >= job.results.size());
      RC_ASSERT(now->owner == job.owner || now->epoch > job.epoch);
      if (job.end) RC_ASSERT(now->end == job.end);
    }
  }
}

TEST(GateLedgerCodec, RefusesAnEndThatItsSlotsDoNotShow) {
  GateLedgerFixture fixture;
  fixture.submit(kJob, {"east"});
  std::string bytes;
  encode(fixture.ledger, bytes);
  ASSERT_TRUE(decode_gate_ledger(bytes).has_value());
  EXPECT_FALSE(decode_gate_ledger(bytes + "x").has_value());
  EXPECT_FALSE(decode_gate_ledger(std::string_view(bytes).substr(0, bytes.size() - 1)).has_value());
  // The end is absent: the last but two bytes of the job, before "acknowledged", tombstones and refused.
  std::string forged = bytes;
  forged[forged.size() - 4] = 1;
  forged.insert(forged.size() - 3, 1, static_cast<char>(JobState::kFailed));
  const auto decoded = decode_gate_ledger(forged);
  ASSERT_FALSE(decoded.has_value());
  EXPECT_NE(decoded.error().message.find("a job's end is not that of its slots"), std::string::npos);
}

}  // namespace
}  // namespace muster::cluster
