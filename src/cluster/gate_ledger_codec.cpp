#include "cluster/gate_ledger_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "cluster/fields_gate.h"
#include "cluster/fields_ledger.h"
#include "cluster/gate_ledger_rules.h"

namespace muster::cluster {
namespace {

template <class Io>
void fields(Io& io, typename Io::template Of<GateSlot>& slot) {
  io.choice(slot.phase, kSlotPhases);
  io.number(slot.offer);
  io.text(slot.datacenter, kMaxName);
  io.number(slot.heard);
  io.flag(slot.lost);
  io.choice(slot.state, kJobStates);
  io.text(slot.reason, kMaxReason);
  io.span(slot.elapsed);
}

template <class Io>
void fields(Io& io, typename Io::template Of<GateResult>& result) {
  io.number(result.slot);
  io.number(result.offer);
  io.text(result.datacenter, kMaxName);
  fields(io, result.status);
}

template <class Io>
void fields(Io& io, typename Io::template Of<GateLedgerJob>& job) {
  const auto names = [&](auto& list) { io.list(list, kMaxDatacenters, [&](auto& name) { io.text(name, kMaxName); }); };
  io.number(job.submitted);
  io.number(job.client);
  fields(io, job.owner);
  io.number(job.epoch);
  io.number(job.renewal);
  fields(io, job.bundle);
  fields(io, job.outline);
  names(job.datacenters);
  io.flag(job.exact);
  io.flag(job.reroute);
  io.number(job.reroutes);
  io.list(job.slots, kMaxDatacenters, [&](auto& slot) { fields(io, slot); });
  io.list(job.results, kMaxGateResults, [&](auto& result) { fields(io, result); });
  names(job.abandoned);
  io.maybe(job.cancel, [&](auto& cancel) { fields(io, cancel); });
  io.maybe(job.end, [&](auto& end) { io.choice(end, kJobStates); });
  io.flag(job.acknowledged);
}

bool sound_results(const GateLedgerJob& job) {
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> seen;
  return job.results.size() <= most_results(job) && std::ranges::all_of(job.results, [&](const GateResult& result) {
           return result.slot < job.slots.size() && result.offer <= job.slots[result.slot].offer &&
                  result.status.workflow < job.outline.workflows.size() && terminal(result.status.state) &&
                  seen.emplace(result.slot, result.offer, result.status.workflow).second;
         });
}

// Epochs count by one: no log gets there.
constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 62;

// What is wrong with a job as it was read; empty if nothing is.
std::string_view fault(JobId id, const GateLedgerJob& job, std::uint64_t index) {
  if (!layers(job.outline)) return "a job's outline is none";
  if (job.submitted > index) return "a job was submitted later than now";
  if (job.slots.empty() || (job.exact && job.slots.size() != job.datacenters.size())) return "a job's slots are wrong";
  if (job.epoch > kMaxCount) return "a job counts too far";
  if (job.reroutes > kMaxReroutes) return "a job was rerouted too often";
  if (std::ranges::adjacent_find(job.abandoned, std::ranges::greater_equal()) != job.abandoned.end()) {
    return "datacenters given up are out of order";
  }
  if (job.cancel && job.cancel->job != id) return "a job's cancellation is another's";
  if (job.end && !terminal(*job.end)) return "a job's end is none";
  const bool ended =
      std::ranges::all_of(job.slots, [](const GateSlot& slot) { return slot.phase == SlotPhase::kEnded; });
  if (ended != job.end.has_value()) return "a job's end is not that of its slots";
  for (const GateSlot& slot : job.slots) {
    if (slot.phase == SlotPhase::kEnded && !terminal(slot.state)) return "a slot's end is none";
    if (slot.offer > kMaxOffers) return "a slot was offered too often";
  }
  return sound_results(job) ? std::string_view() : "a job's results are not those it can have";
}

}  // namespace

// Maps are written by ascending key, and read only so.
class GateLedgerCodec {
 public:
  static void write(const GateLedger& ledger, std::string& out);
  static void read(metrics::Reader& reader, GateLedger& ledger);

 private:
  static void read_jobs(metrics::Reader& reader, GateLedger& ledger);
  static void derive(metrics::Reader& reader, GateLedger& ledger, const GateLedgerJob& job);
};

void GateLedgerCodec::write(const GateLedger& ledger, std::string& out) {
  metrics::Writer writer(out);
  Pack io(out);
  writer.byte(kGateLedgerVersion);
  io.number(ledger.index_);
  writer.varint(ledger.jobs_.size());
  for (const auto& [id, job] : ledger.jobs_) {
    io.number(id);
    fields(io, job);
  }
  write_rows(out, ledger.tombstones_);
  write_rows(out, ledger.refused_);
}

void GateLedgerCodec::read(metrics::Reader& reader, GateLedger& ledger) {
  if (const std::uint8_t version = reader.byte(); reader.ok() && version != kGateLedgerVersion) {
    reader.fail(fmt::format("its version is {}, known is {}", version, kGateLedgerVersion));
  }
  Unpack io(reader);
  io.number(ledger.index_);
  read_jobs(reader, ledger);
  read_rows(reader, ledger.tombstones_, kMaxTombstones);
  read_rows(reader, ledger.refused_, kMaxRefusedProposals);
}

void GateLedgerCodec::read_jobs(metrics::Reader& reader, GateLedger& ledger) {
  Unpack io(reader);
  const std::size_t size = reader.length(kMaxGateJobs);
  for (std::size_t i = 0; i < size && reader.ok(); ++i) {
    JobId id{};
    io.number(id);
    io.require(ledger.jobs_.empty() || id > ledger.jobs_.rbegin()->first, "jobs out of order");
    GateLedgerJob job;
    fields(io, job);
    if (reader.ok()) {
      if (const std::string_view wrong = fault(id, job, ledger.index_); !wrong.empty()) reader.fail(wrong);
    }
    if (reader.ok()) derive(reader, ledger, job);
    if (reader.ok()) ledger.jobs_.emplace_hint(ledger.jobs_.end(), id, std::move(job));
  }
}

void GateLedgerCodec::derive(metrics::Reader& reader, GateLedger& ledger, const GateLedgerJob& job) {
  ledger.reserved_ += most_results(job);
  if (ledger.reserved_ > kMaxGateResults) return reader.fail("it has too many results");
  ledger.outline_bytes_ += outline_bytes(job.outline);
  if (ledger.outline_bytes_ > kMaxGateOutlineBytes) return reader.fail("its outlines are too large");
  if (!job.end) ledger.name_body(job.bundle);
  for (const GateResult& result : job.results) ledger.name_results(result);
  if (ledger.result_bodies_ > kMaxGateBodies) reader.fail("it names too many bodies");
}

void encode(const GateLedger& ledger, std::string& out) {
  GateLedgerCodec::write(ledger, out);
}

base::Expected<GateLedger> decode_gate_ledger(std::string_view bytes) {
  metrics::Reader reader(bytes);
  if (bytes.size() > kMaxGateLedgerBytes) reader.fail("it is larger than a ledger can be");
  GateLedger ledger;
  GateLedgerCodec::read(reader, ledger);
  if (reader.ok() && !reader.at_end()) reader.fail("more bytes follow its end");
  if (!reader.ok()) return std::unexpected(reader.error("ledger of the gates"));
  return ledger;
}

}  // namespace muster::cluster
