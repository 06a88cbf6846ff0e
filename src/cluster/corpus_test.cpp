#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/corpus_fixture.h"
#include "cluster/bytes_fixture.h"
#include "cluster/command_codec.h"
#include "cluster/context.h"
#include "cluster/fields_fixture.h"
#include "cluster/fields_messages_job.h"
#include "cluster/fields_messages_worker.h"
#include "cluster/gate_command_codec.h"
#include "cluster/gate_ledger_codec.h"
#include "cluster/gate_ledger_fixture.h"
#include "cluster/ledger_codec.h"
#include "cluster/ledger_fixture.h"
#include "cluster/message_codec.h"
#include "cluster/variant_codec.h"

namespace muster::cluster {
namespace {

base::Corpus corpus(const std::string& target) {
  return base::Corpus(MUSTER_TEST_DATA "/../corpus/" + target);
}

// The longest of a few random ones, so that lists have rows.
std::string message_of_kind(std::size_t kind) {
  std::string longest;
  for (std::uint64_t seed = 0; seed < 16 || longest.empty(); ++seed) {
    Message message;
    choose_alternative(message, kind);
    Fill fill(seed);
    std::visit([&](auto& each) { fields(fill, each); }, message);
    const std::string bytes = bytes_of(message);
    if (fill.fits() && bytes.size() > longest.size() && bytes.size() < 600) longest = bytes;
  }
  return longest;
}

TEST(Corpus, HasEveryKindOfMessage) {
  for (std::size_t kind = 0; kind < kMessages; ++kind) {
    Message message;
    choose_alternative(message, kind);
    std::string name(name_of(message));
    std::ranges::replace(name, ' ', '_');
    corpus("message_fuzz").expect(name, message_of_kind(kind));
  }
  for (const auto& [name, bytes] : corpus("message_fuzz").seeds()) EXPECT_TRUE(decode_message(bytes)) << name;
}

// Each takes effect on the ledger that command_fuzz applies it to, or on an empty one.
TEST(Corpus, HasEveryKindOfEntry) {
  const Process owner{NodeId{1}, Life{1}};
  const Process worker{NodeId{2}, Life{1}};
  const JobId job{1};
  const std::vector<std::pair<std::string, Command>> commands = {
      {"accepted", JobAccepted{JobId{2}, ClientId{1}, NodeId{3}, 1, owner, body(1), outline({{}, {0}, {0, 1}})}},
      {"owner", JobOwner{job, {NodeId{5}, Life{2}}, 2, std::chrono::seconds(9)}},
      {"provision", Provision{job, 1, 1, {{0, worker, 1, 1}, {1, worker, 1, 1}}}},
      {"lost", PartLost{{job, 0, 1}, {1, 1}, 1, Loss::kRefused}},
      {"context", LayerContext{job, 1, 0, 1, body(2)}},
      {"held", ResultHeld{{job, 0, 0}, {1, 1}, PartOutcome::kCompleted, body(3), {10, 9, 1}, "why"}},
      {"ended", JobEnded{job, 1, JobState::kFailed, "why"}},
      {"cancel", CancelRequested{job, "ada", "enough", JobState::kCancelled}},
      {"buried", CancelRequested{JobId{9}, "ada", "", JobState::kCancelled, true, ClientId{1}}},
      {"admitted", WorkerAdmitted{{NodeId{4}, Life{1}}, 8}},
      {"evicted", WorkerEvicted{worker, Eviction::kUnreachable}},
      {"forgotten", JobForgotten{job}},
      {"configuration", Configuration{1, "retention: 5m"}},
      {"cores", CoresDone{{job, 0, 0}, {1, 1}, 1, 1}},
  };
  std::uint64_t sequence = 7;
  for (const auto& [name, command] : commands) {
    corpus("command_fuzz").expect(name, bytes_of(Entry{owner, ++sequence, command}));
  }
  for (const auto& [name, bytes] : corpus("command_fuzz").seeds()) EXPECT_TRUE(decode_entry(bytes)) << name;
}

TEST(Corpus, HasEveryKindOfEntryOfTheGates) {
  const Process gate{NodeId{1}, Life{1}};
  const SlotFence offered{JobId{1}, 1, 0, 1};
  const SlotFence accepted{JobId{2}, 1, 0, 1};
  const WorkflowStatus status{0, WorkflowState::kCompleted, 1, 1, {10, 9, 1}, {body(70)}, ""};
  const std::vector<std::pair<std::string, GateCommand>> commands = {
      {"submitted", JobSubmitted{JobId{4}, ClientId{1}, gate, RenewalId{9}, body(1), outline({{}, {0}}), {"east"}, 0}},
      {"counted", JobSubmitted{JobId{5}, ClientId{1}, gate, RenewalId{9}, body(1), outline({{}}), {}, 2, true}},
      {"renewed", LeasesRenewed{gate, {{JobId{1}, 1, RenewalId{8}, 1}, {JobId{2}, 1, RenewalId{9}, 3}}}},
      {"moved", LeaseMoved{JobId{1}, 2, RenewalId{1}, RenewalId{7}, {NodeId{2}, Life{1}}}},
      {"offered", SlotOffered{{JobId{1}, 1, 1, 1}, "west", false}},
      {"taken", SlotAccepted{offered}},
      {"received", WorkflowReceived{accepted, status}},
      {"ended", SlotEnded{accepted, JobState::kPartial, "some", std::chrono::seconds(3)}},
      {"lost", SlotLost{accepted, RenewalId{2}, SlotLoss::kUnheard, "it was not heard of"}},
      {"failed", SlotFailed{{JobId{1}, 1, 1, 0}, JobState::kTimeout, false, "late"}},
      {"cancelled", JobCancelled{JobId{2}, ClientId{1}, "ada", "enough"}},
      {"acknowledged", EndAcknowledged{JobId{3}}},
      {"forgotten", GateJobForgotten{JobId{3}}},
  };
  std::uint64_t sequence = 100;
  for (const auto& [name, command] : commands) {
    corpus("gate_command_fuzz").expect(name, bytes_of(GateEntry{gate, ++sequence, command}));
  }
  for (const auto& [name, bytes] : corpus("gate_command_fuzz").seeds()) EXPECT_TRUE(decode_gate_entry(bytes)) << name;
}

TEST(Corpus, HasLedgersOfJobsInEveryState) {
  const base::Corpus seeds = corpus("ledger_fuzz");
  seeds.expect("empty", bytes_of(Ledger()));
  LedgerFixture one;
  one.admit(worker(1), 4);
  one.admit(worker(2), 2);
  one.apply(WorkerEvicted{worker(2), Eviction::kUnreachable});
  seeds.expect("workers", bytes_of(one.ledger));
  one.accept(kJob, outline({{}, {0}}));
  seeds.expect("queued", bytes_of(one.ledger));
  one.provision(0, {{0, worker(1), 1, 1}, {1, worker(1), 2, 1}});
  one.apply(CoresDone{{kJob, 0, 1}, {1, 1}, 1, 1});
  seeds.expect("assigned", bytes_of(one.ledger));
  one.lost(0, 1, Loss::kNotRunning);
  one.held(0, 0);
  one.apply(CancelRequested{kJob, "ada", "enough", JobState::kCancelled});
  seeds.expect("cancelled", bytes_of(one.ledger));
  one.apply(JobEnded{kJob, 1, JobState::kCancelled, "enough"});
  one.apply(Provision{kJob, 1, 0, {{1, worker(1), 2, 2}}});
  one.apply(Configuration{1, "retention: 5m"});
  ASSERT_TRUE(one.ledger.job(kJob)->end);
  seeds.expect("ended", bytes_of(one.ledger));
  one.apply(JobForgotten{kJob});
  seeds.expect("forgotten", bytes_of(one.ledger));
  for (const auto& [name, bytes] : seeds.seeds()) EXPECT_TRUE(decode_ledger(bytes)) << name;
}

TEST(Corpus, HasLedgersOfTheGatesWithJobsInEveryState) {
  const base::Corpus seeds = corpus("gate_ledger_fuzz");
  seeds.expect("empty", bytes_of(GateLedger()));
  GateLedgerFixture one;
  one.submit(kJob, {"east", "west"}, true, 2);
  one.offer("east");
  seeds.expect("offered", bytes_of(one.ledger));
  GateLedgerFixture two = one;
  two.submit(JobId{76}, {"west"});
  seeds.expect("two", bytes_of(two.ledger));
  one.accepted();
  one.result(0);
  one.offer("west", false, 1);
  one.accepted(1);
  seeds.expect("running", bytes_of(one.ledger));
  one.lost(1);
  one.apply(JobCancelled{kJob, kClient, "ada", "enough"});
  seeds.expect("cancelled", bytes_of(one.ledger));
  one.ended(JobState::kCancelled);
  one.apply(SlotFailed{one.fence(1), JobState::kCancelled, false, "enough"});
  ASSERT_TRUE(one.job().end);
  seeds.expect("ended", bytes_of(one.ledger));
  one.apply(GateJobForgotten{kJob});
  one.submit_count(JobId{78}, 2, {"east"});
  seeds.expect("forgotten", bytes_of(one.ledger));
  for (const auto& [name, bytes] : seeds.seeds()) EXPECT_TRUE(decode_gate_ledger(bytes)) << name;
}

TEST(Corpus, HasContexts) {
  const base::Corpus seeds = corpus("context_fuzz");
  seeds.expect("empty", bytes_of(LayerValues()));
  LayerValues values;
  model::Provided token;
  token.key = "token";
  token.values = {"\"a\"", "17"};
  token.lamport = 3;
  values.add(0, {token});
  values.add(2, {token});
  seeds.expect("two", bytes_of(values));
  for (const auto& [name, bytes] : seeds.seeds()) EXPECT_TRUE(decode_context(bytes)) << name;
}

}  // namespace
}  // namespace muster::cluster
