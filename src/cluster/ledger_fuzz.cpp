// Whatever decodes as a ledger encodes to the very bytes it came from, gives no core twice, and takes further entries.
// covers: cluster/ledger_codec.cpp
// options: -use_value_profile=1
#include <map>
#include <string>
#include <string_view>

#include "base/fuzzing.h"
#include "cluster/ledger.h"
#include "cluster/ledger_codec.h"

namespace muster::cluster {
namespace {

using base::require;

void check_cores(const Ledger& ledger) {
  std::map<Process, std::uint64_t> taken;
  for (const auto& [id, job] : ledger.jobs()) {
    for (const LedgerWorkflow& workflow : job.workflows) {
      for (const LedgerPart& part : workflow.parts) {
        if (part.phase == PartPhase::kAssigned) taken[part.worker] += part.cores_held();
      }
    }
  }
  for (const auto& [node, worker] : ledger.workers()) {
    require(worker.used <= worker.cores);
    require(worker.used == taken[Process{node, worker.life}]);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = base::text_of(data, size);
  auto decoded = decode_ledger(input);
  if (!decoded) {
    require(!decoded.error().message.empty());
    return 0;
  }
  std::string again;
  encode(*decoded, again);
  require(again == input);
  require(!decode_ledger(input.substr(0, size - 1)));
  check_cores(*decoded);
  // Goes on from there: every part that has cores loses them, every open job is cancelled.
  Ledger ledger = std::move(*decoded);
  const std::map<JobId, LedgerJob> jobs = ledger.jobs();
  for (const auto& [id, job] : jobs) {
    static_cast<void>(ledger.apply(ledger.index() + 1, {{}, 0, CancelRequested{id, "", "", JobState::kCancelled}}));
    for (std::uint32_t w = 0; w < job.workflows.size(); ++w) {
      for (std::uint32_t p = 0; p < job.workflows[w].parts.size(); ++p) {
        const Fence fence = job.workflows[w].parts[p].fence;
        static_cast<void>(
            ledger.apply(ledger.index() + 1, {{}, 0, PartLost{{id, w, p}, fence, job.epoch, Loss::kCancelled}}));
      }
    }
  }
  check_cores(ledger);
  return 0;
}

}  // namespace muster::cluster
