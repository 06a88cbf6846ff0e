// Whatever decodes encodes to the very bytes it came from, and can be applied: to an empty ledger and to one with a job
// and a worker, no entry gives a core twice or breaks the snapshot.
// covers: cluster/command_codec.cpp cluster/fields_job.h
#include <string>
#include <string_view>

#include "base/fuzzing.h"
#include "cluster/command_codec.h"
#include "cluster/ledger.h"
#include "cluster/ledger_codec.h"

namespace muster::cluster {
namespace {

using base::require;

Ledger with_a_job() {
  Ledger ledger;
  const Process owner{NodeId{1}, Life{1}};
  const Process worker{NodeId{2}, Life{1}};
  JobOutline outline;
  outline.workflows.resize(3);
  outline.workflows[0].name = "a";
  outline.workflows[1].name = "b";
  outline.workflows[2].name = "c";
  outline.workflows[2].depends = {0};
  ledger.apply(1, {owner, 1, WorkerAdmitted{worker, 5}});
  ledger.apply(2, {owner, 2, JobAccepted{JobId{1}, ClientId{1}, NodeId{3}, 0, owner, {}, outline}});
  ledger.apply(3, {owner, 3, Provision{JobId{1}, 1, 0, {{0, worker, 2, 1}, {1, worker, 1, 1}}}});
  return ledger;
}

void apply_to(Ledger ledger, const Entry& entry) {
  static_cast<void>(ledger.apply(ledger.index() + 1, entry));
  for (const auto& [node, worker] : ledger.workers()) require(worker.used <= worker.cores);
  std::string bytes;
  encode(ledger, bytes);
  const auto restored = decode_ledger(bytes);
  require(restored.has_value() && *restored == ledger);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = base::text_of(data, size);
  const auto decoded = decode_entry(input);
  if (!decoded) {
    require(!decoded.error().message.empty());
    return 0;
  }
  std::string again;
  encode(*decoded, again);
  require(again == input);
  require(!decode_entry(input.substr(0, size - 1)));
  static const Ledger kLedger = with_a_job();
  apply_to(Ledger(), *decoded);
  apply_to(kLedger, *decoded);
  return 0;
}

}  // namespace muster::cluster
