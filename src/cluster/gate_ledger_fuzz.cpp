// Whatever decodes as a ledger of the gates encodes to the very bytes it came from and takes further entries: every
// lease moves, every job is cancelled and ended, every end is forgotten, and nothing is left but tombstones.
// covers: cluster/gate_ledger_codec.cpp
#include <map>
#include <string>
#include <string_view>

#include "base/fuzzing.h"
#include "cluster/gate_ledger.h"
#include "cluster/gate_ledger_codec.h"

namespace muster::cluster {
namespace {

using base::require;

void finish(GateLedger& ledger, JobId id) {
  const auto apply = [&](GateCommand command) {
    if (ledger.index() != UINT64_MAX) static_cast<void>(ledger.apply(ledger.index() + 1, {{}, 0, std::move(command)}));
  };
  const GateLedgerJob job = *ledger.job(id);
  apply(LeaseMoved{id, job.epoch + 1, job.renewal, RenewalId{1}, {NodeId{1}, Life{1}}});
  apply(JobCancelled{id, job.client, "", ""});
  const std::uint64_t epoch = ledger.job(id)->epoch;
  for (std::uint32_t slot = 0; slot < job.slots.size(); ++slot) {
    const SlotFence fence{id, epoch, slot, job.slots[slot].offer};
    apply(SlotFailed{fence, JobState::kCancelled, false, ""});
    apply(SlotEnded{fence, JobState::kCancelled, "", {}});
  }
  apply(GateJobForgotten{id});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = base::text_of(data, size);
  auto decoded = decode_gate_ledger(input);
  if (!decoded) {
    require(!decoded.error().message.empty());
    return 0;
  }
  std::string again;
  encode(*decoded, again);
  require(again == input);
  require(!decode_gate_ledger(input.substr(0, size - 1)));
  GateLedger ledger = std::move(*decoded);
  const std::map<JobId, GateLedgerJob> jobs = ledger.jobs();
  if (ledger.index() > UINT64_MAX / 2) return 0;
  for (const auto& [id, job] : jobs) finish(ledger, id);
  require(ledger.jobs().empty() && ledger.bodies().empty() && ledger.free_results() == kMaxGateResults);
  return 0;
}

}  // namespace muster::cluster
