// Whatever decodes encodes to the very bytes it came from, and can be applied: to an empty ledger and to one with jobs
// in several states, no entry breaks the snapshot or takes an epoch back.
// covers: cluster/gate_command_codec.cpp cluster/fields_gate.h
#include <string>
#include <string_view>

#include "base/fuzzing.h"
#include "cluster/gate_command_codec.h"
#include "cluster/gate_ledger.h"
#include "cluster/gate_ledger_codec.h"

namespace muster::cluster {
namespace {

using base::require;

GateLedger with_jobs() {
  GateLedger ledger;
  const Process gate{NodeId{1}, Life{1}};
  JobOutline outline;
  outline.workflows.resize(2);
  outline.workflows[0].name = "a";
  outline.workflows[1].name = "b";
  for (std::uint64_t i = 1; i <= 3; ++i) {
    const JobId id{i};
    const auto apply = [&](GateCommand command) {
      ledger.apply(ledger.index() + 1, {gate, ledger.index() + 1, std::move(command)});
    };
    apply(JobSubmitted{id, ClientId{1}, gate, RenewalId{i}, {BodyHash{{1}}, 5}, outline, {"east", "west"}, 0, i == 2});
    apply(SlotOffered{{id, 1, 0, 1}, "east", false});
    if (i >= 2) apply(SlotAccepted{{id, 1, 0, 1}});
    if (i == 3) apply(SlotEnded{{id, 1, 0, 1}, JobState::kPartial, "", {}});
    if (i == 3) apply(SlotFailed{{id, 1, 1, 0}, JobState::kFailed, true, "none"});
  }
  return ledger;
}

void apply_to(GateLedger ledger, const GateEntry& entry) {
  const auto before = ledger.jobs();
  static_cast<void>(ledger.apply(ledger.index() + 1, entry));
  for (const auto& [id, job] : before) {
    const GateLedgerJob* now = ledger.job(id);
    require(now != nullptr || job.end.has_value());
    require(now == nullptr || (now->epoch >= job.epoch && (!job.end || now->end == job.end)));
  }
  std::string bytes;
  encode(ledger, bytes);
  const auto restored = decode_gate_ledger(bytes);
  require(restored.has_value() && *restored == ledger);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = base::text_of(data, size);
  const auto decoded = decode_gate_entry(input);
  if (!decoded) {
    require(!decoded.error().message.empty());
    return 0;
  }
  std::string again;
  encode(*decoded, again);
  require(again == input);
  require(!decode_gate_entry(input.substr(0, size - 1)));
  static const GateLedger kLedger = with_jobs();
  apply_to(GateLedger(), *decoded);
  apply_to(kLedger, *decoded);
  return 0;
}

}  // namespace muster::cluster
