#include "cluster/ledger_codec.h"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/fields.h"
#include "cluster/fields_job.h"
#include "cluster/fields_ledger.h"
#include "cluster/options.h"

namespace muster::cluster {
namespace {

constexpr std::size_t kPartPhases = 3;

template <class Io>
void fields(Io& io, typename Io::template Of<LedgerPart>& part) {
  io.choice(part.phase, kPartPhases);
  fields(io, part.slice);
  fields(io, part.worker);
  fields(io, part.fence);
  io.number(part.given_back);
  io.require(part.given_back == 0 || part.given_back < part.slice.cores, "a part has given all its cores back");
  io.number(part.losses);
  io.number(part.refusals);
  io.list(part.failed_on, kMaxFailedOn, [&](auto& worker) { fields(io, worker); });
  io.choice(part.outcome, kPartOutcomes);
  fields(io, part.result);
  fields(io, part.counts);
  io.text(part.reason, kMaxReason);
}

template <class Io>
void fields(Io& io, typename Io::template Of<LedgerWorkflow>& workflow) {
  io.choice(workflow.state, kWorkflowStates);
  io.list(workflow.parts, kMaxParts, [&](auto& part) { fields(io, part); });
}

template <class Io>
void fields(Io& io, typename Io::template Of<LedgerJob>& job) {
  io.number(job.accepted);
  io.number(job.client);
  io.number(job.origin);
  io.number(job.origin_epoch);
  fields(io, job.owner);
  io.number(job.epoch);
  io.span(job.elapsed);
  io.require(job.elapsed >= base::Duration::zero(), "a job is younger than new");
  fields(io, job.bundle);
  fields(io, job.outline);
  io.number(job.open_layer);
  io.number(job.context_version);
  fields(io, job.context);
  io.flag(job.started);
  io.maybe(job.cancel, [&](auto& cancel) { fields(io, cancel); });
  io.maybe(job.end, [&](auto& end) { fields(io, end); });
  io.list(job.workflows, kMaxWorkflows, [&](auto& workflow) { fields(io, workflow); });
}

template <class Io>
void fields(Io& io, typename Io::template Of<LedgerWorker>& worker) {
  io.number(worker.life);
  io.number(worker.cores);
  io.flag(worker.evicted);
  io.choice(worker.reason, kEvictions);
  io.number(worker.admission);
  io.require(worker.evicted || worker.reason == Eviction::kDead, "a worker that is there has a reason to be gone");
}

}  // namespace

// Maps are written by ascending key, and read only so.
class LedgerCodec {
 public:
  static void write(const Ledger& ledger, std::string& out);
  static void read(metrics::Reader& reader, Ledger& ledger);

 private:
  static void read_jobs(metrics::Reader& reader, Ledger& ledger);
  static void read_workers(metrics::Reader& reader, Ledger& ledger);
  static void derive(metrics::Reader& reader, Ledger& ledger, JobId id, LedgerJob& job);
  static void take_cores(metrics::Reader& reader, Ledger& ledger, const PartId& id, const LedgerPart& part);
};

void LedgerCodec::write(const Ledger& ledger, std::string& out) {
  metrics::Writer writer(out);
  Pack io(out);
  writer.byte(kLedgerVersion);
  io.number(ledger.index_);
  io.number(ledger.settings_version_);
  io.text(ledger.settings_, kMaxSettings);
  writer.varint(ledger.workers_.size());
  for (const auto& [node, worker] : ledger.workers_) {
    io.number(node);
    fields(io, worker);
  }
  writer.varint(ledger.jobs_.size());
  for (const auto& [id, job] : ledger.jobs_) {
    io.number(id);
    fields(io, job);
  }
  write_rows(out, ledger.tombstones_);
  write_rows(out, ledger.refused_);
}

void LedgerCodec::read(metrics::Reader& reader, Ledger& ledger) {
  if (const std::uint8_t version = reader.byte(); reader.ok() && version != kLedgerVersion) {
    reader.fail(fmt::format("its version is {}, known is {}", version, kLedgerVersion));
  }
  Unpack io(reader);
  io.number(ledger.index_);
  io.number(ledger.settings_version_);
  io.text(ledger.settings_, kMaxSettings);
  read_workers(reader, ledger);
  read_jobs(reader, ledger);
  read_rows(reader, ledger.tombstones_, kMaxTombstones);
  read_rows(reader, ledger.refused_, kMaxRefusedProposals);
}

void LedgerCodec::read_workers(metrics::Reader& reader, Ledger& ledger) {
  Unpack io(reader);
  const std::size_t size = reader.length(kMaxWorkers);
  for (std::size_t i = 0; i < size && reader.ok(); ++i) {
    NodeId node = kNoNode;
    io.number(node);
    io.require(node > (ledger.workers_.empty() ? kNoNode : ledger.workers_.rbegin()->first), "workers out of order");
    LedgerWorker worker;
    fields(io, worker);
    io.require(worker.cores <= kMaxCores, "a worker has too many cores");
    ledger.workers_.emplace_hint(ledger.workers_.end(), node, worker);
  }
}

void LedgerCodec::read_jobs(metrics::Reader& reader, Ledger& ledger) {
  Unpack io(reader);
  const std::size_t size = reader.length(kMaxJobs);
  for (std::size_t i = 0; i < size && reader.ok(); ++i) {
    JobId id{};
    io.number(id);
    io.require(ledger.jobs_.empty() || id > ledger.jobs_.rbegin()->first, "jobs out of order");
    LedgerJob job;
    fields(io, job);
    if (reader.ok()) derive(reader, ledger, id, job);
    if (reader.ok()) ledger.jobs_.emplace_hint(ledger.jobs_.end(), id, std::move(job));
  }
}

void LedgerCodec::derive(metrics::Reader& reader, Ledger& ledger, JobId id, LedgerJob& job) {
  const auto layer = layers(job.outline);
  if (!layer || layer->size() != job.workflows.size())
    return reader.fail("a job's workflows are not those it should have");
  if (job.accepted > ledger.index_) return reader.fail("a job was accepted later than now");
  if (!job.end && !ledger.open_.emplace(job.accepted, id).second)
    return reader.fail("two jobs have one place in the queue");
  if (job.end && (job.end->job != id || !terminal(job.end->state))) return reader.fail("a job's end is none");
  if (job.cancel && job.cancel->job != id) return reader.fail("a job's cancellation is another's");
  ledger.name_body(job.bundle);
  ledger.name_body(job.context);
  for (std::size_t i = 0; i < job.workflows.size(); ++i) {
    job.workflows[i].layer = (*layer)[i];
    const bool pending = job.workflows[i].state == WorkflowState::kPending;
    if (pending && !job.workflows[i].parts.empty()) return reader.fail("a pending workflow has parts");
    ledger.parts_ += job.workflows[i].parts.size();
    if (job.workflows[i].parts.size() > most_parts(layer->size())) return reader.fail("a workflow has too many parts");
    if (ledger.parts_ > kMaxLedgerParts) return reader.fail("it has too many parts");
    const auto& parts = job.workflows[i].parts;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      ledger.name_body(parts[p].result);
      const PartId part{id, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(p)};
      if (parts[p].phase != PartPhase::kAssigned) continue;
      if (job.end || terminal(job.workflows[i].state)) return reader.fail("something that ended has cores");
      take_cores(reader, ledger, part, parts[p]);
    }
  }
}

void LedgerCodec::take_cores(metrics::Reader& reader, Ledger& ledger, const PartId& id, const LedgerPart& part) {
  ledger.assigned_[part.worker.node].insert(id);
  const auto at = ledger.workers_.find(part.worker.node);
  if (at == ledger.workers_.end() || at->second.life != part.worker.life) return;
  if (part.cores_held() > at->second.cores - at->second.used) return reader.fail("a core is given twice");
  at->second.used += part.cores_held();
}

void encode(const Ledger& ledger, std::string& out) {
  LedgerCodec::write(ledger, out);
}

base::Expected<Ledger> decode_ledger(std::string_view bytes) {
  metrics::Reader reader(bytes);
  if (bytes.size() > kMaxLedgerBytes) reader.fail("it is larger than a ledger can be");
  Ledger ledger;
  LedgerCodec::read(reader, ledger);
  if (reader.ok() && !reader.at_end()) reader.fail("more bytes follow its end");
  if (!reader.ok()) return std::unexpected(reader.error("ledger"));
  return ledger;
}

}  // namespace muster::cluster
