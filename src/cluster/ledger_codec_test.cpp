#include "cluster/ledger_codec.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "cluster/bytes_fixture.h"
#include "cluster/command_codec.h"
#include "cluster/ledger_fixture.h"
#include "cluster/options.h"

namespace muster::cluster {
namespace {

// Commands that often fit: few jobs, workers and epochs.
class RandomCommands {
 public:
  explicit RandomCommands(std::uint64_t seed) : random_(seed) {}

  Command next(const Ledger& ledger) {
    const JobId job{1 + random_.below(4)};
    const LedgerJob* known = ledger.job(job);
    const std::uint64_t epoch = known != nullptr ? known->epoch - (random_.below(8) == 0 ? 1 : 0) : 1;
    const PartId part{job, below(3), below(2)};
    const LedgerPart* found = ledger.part(part);
    const Fence fence = found != nullptr && random_.below(6) != 0 ? found->fence : Fence{1, 1};
    switch (random_.below(14)) {
      case 0:
        return JobAccepted{job, kClient, NodeId{9}, 0, kManagerA, body(1 + number(job)), outline({{}, {0}, {}})};
      case 1:
        return JobOwner{job, random_.below(2) == 0 ? kManagerA : kManagerB, epoch + 1,
                        std::chrono::seconds(random_.below(9))};
      case 2:
      case 3:
      case 4:
        return provision(ledger, job, epoch);
      case 5:
        return PartLost{part, fence, epoch, static_cast<Loss>(random_.below(kLosses))};
      case 6:
        return LayerContext{job, epoch, 0, known != nullptr ? known->context_version + 1 : 1, body(40)};
      case 7:
      case 8:
        return ResultHeld{part,     fence,     static_cast<PartOutcome>(random_.below(kPartOutcomes)),
                          body(50), {3, 2, 1}, "r"};
      case 9:
        return JobEnded{job, epoch,
                        known == nullptr ? JobState::kFailed
                        : known->cancel  ? known->cancel->end_as
                                         : end_of(*known),
                        ""};
      case 10:
        return random_.below(4) == 0 ? Command(CancelRequested{job, "ada", "", JobState::kCancelled})
                                     : Command(JobForgotten{job});
      case 11:
      case 12:
        return WorkerAdmitted{some_worker(), 2 + below(3)};
      default:
        return WorkerEvicted{some_worker(), static_cast<Eviction>(random_.below(kEvictions))};
    }
  }

 private:
  std::uint32_t below(std::uint64_t bound) { return static_cast<std::uint32_t>(random_.below(bound)); }
  Process some_worker() { return worker(1 + random_.below(3), 1 + random_.below(2)); }
  Provision provision(const Ledger& ledger, JobId job, std::uint64_t epoch) {
    Provision made{job, epoch, below(3), {}};
    const std::uint32_t parts = 1 + below(2);
    for (std::uint32_t i = 0; i < parts; ++i) {
      const LedgerPart* known = ledger.part({job, made.workflow, i});
      if (known == nullptr) {
        made.parts.push_back({i, some_worker(), 1 + below(2), 1});
      } else {
        made.parts.push_back({i, some_worker(), known->slice.cores, known->fence.attempt + 1});
      }
    }
    return made;
  }

  base::Random random_;
};

void check_cores(const Ledger& ledger) {
  std::map<Process, std::uint32_t> taken;
  for (const auto& [id, job] : ledger.jobs()) {
    for (const LedgerWorkflow& workflow : job.workflows) {
      for (const LedgerPart& part : workflow.parts) {
        if (part.phase == PartPhase::kAssigned) taken[part.worker] += part.slice.cores;
      }
    }
  }
  for (const auto& [node, found] : ledger.workers()) {
    RC_ASSERT(found.used <= found.cores);
    const auto at = taken.find({node, found.life});
    RC_ASSERT(found.used == (at == taken.end() ? 0 : at->second));
  }
}

RC_GTEST_PROP(LedgerProperty, NoInterleavingGivesACoreTwiceAndEverySnapshotGoesOnAlike, (std::uint64_t seed)) {
  RandomCommands commands(seed);
  Ledger ledger;
  Ledger copy;
  for (std::uint64_t index = 1; index <= 300; ++index) {
    const Entry entry{kManagerA, index, commands.next(ledger)};
    std::string bytes;
    encode(entry, bytes);
    const auto decoded = decode_entry(bytes);
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(*decoded == entry);
    const Verdict verdict = ledger.apply(index, entry);
    RC_ASSERT(copy.apply(index, *decoded) == verdict);
    check_cores(ledger);
    if (index % 50 == 0) {
      auto restored = decode_ledger(bytes_of(ledger));
      RC_ASSERT(restored.has_value());
      RC_ASSERT(*restored == ledger);
      RC_ASSERT(restored->digest() == ledger.digest());
      copy = std::move(*restored);
    }
  }
}

TEST(LedgerCodec, RefusesASnapshotThatGivesACoreTwice) {
  LedgerFixture one;
  one.admit(worker(1), 4);
  one.accept(kJob, outline({{}}));
  one.provision(0, {{0, worker(1), 4, 1}});
  std::string bytes = bytes_of(one.ledger);
  ASSERT_TRUE(decode_ledger(bytes));
  LedgerFixture smaller;
  smaller.admit(worker(1), 3);
  const std::string prefix = bytes_of(smaller.ledger);
  // The worker's count of cores is the byte where the two first differ after the index.
  for (std::size_t at = 2; at < prefix.size(); ++at) {
    if (bytes[at] == 4 && prefix[at] == 3) {
      bytes[at] = 3;
      break;
    }
  }
  const auto decoded = decode_ledger(bytes);
  ASSERT_FALSE(decoded);
  EXPECT_NE(decoded.error().message.find("twice"), std::string::npos);
}

TEST(LedgerCodec, RefusesWhatIsCutShortOrFollowedByMore) {
  LedgerFixture one;
  one.accept(kJob, outline({{}, {0}}));
  const std::string bytes = bytes_of(one.ledger);
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode_ledger(bytes.substr(0, size)));
  EXPECT_FALSE(decode_ledger(bytes + '\0'));
}

}  // namespace
}  // namespace muster::cluster
