#include "cluster/command_codec.h"

#include <fmt/format.h>

#include "cluster/fields.h"
#include "cluster/fields_job.h"
#include "cluster/options.h"
#include "cluster/variant_codec.h"

namespace muster::cluster {
namespace {

template <class Io>
void fields(Io& io, typename Io::template Of<JobAccepted>& command) {
  io.number(command.job);
  io.number(command.client);
  io.number(command.origin);
  io.number(command.origin_epoch);
  fields(io, command.owner);
  fields(io, command.bundle);
  fields(io, command.outline);
}

template <class Io>
void fields(Io& io, typename Io::template Of<JobOwner>& command) {
  io.number(command.job);
  fields(io, command.owner);
  io.number(command.epoch);
  io.span(command.elapsed);
}

template <class Io>
void fields(Io& io, typename Io::template Of<Assignment>& assignment) {
  io.number(assignment.part);
  fields(io, assignment.worker);
  io.number(assignment.cores);
  io.number(assignment.attempt);
}

template <class Io>
void fields(Io& io, typename Io::template Of<Provision>& command) {
  io.number(command.job);
  io.number(command.epoch);
  io.number(command.workflow);
  io.list(command.parts, kMaxParts, [&](auto& assignment) { fields(io, assignment); });
}

template <class Io>
void fields(Io& io, typename Io::template Of<PartLost>& command) {
  fields(io, command.part);
  fields(io, command.fence);
  io.number(command.epoch);
  io.choice(command.loss, kLosses);
}

template <class Io>
void fields(Io& io, typename Io::template Of<CoresDone>& command) {
  fields(io, command.part);
  fields(io, command.fence);
  io.number(command.epoch);
  io.number(command.cores);
}

template <class Io>
void fields(Io& io, typename Io::template Of<LayerContext>& command) {
  io.number(command.job);
  io.number(command.epoch);
  io.number(command.layer);
  io.number(command.version);
  fields(io, command.body);
}

template <class Io>
void fields(Io& io, typename Io::template Of<ResultHeld>& command) {
  fields(io, command.part);
  fields(io, command.fence);
  io.choice(command.outcome, kPartOutcomes);
  fields(io, command.body);
  fields(io, command.counts);
  io.text(command.reason, kMaxReason);
}

template <class Io>
void fields(Io& io, typename Io::template Of<WorkerAdmitted>& command) {
  fields(io, command.worker);
  io.number(command.cores);
}

template <class Io>
void fields(Io& io, typename Io::template Of<WorkerEvicted>& command) {
  fields(io, command.worker);
  io.choice(command.reason, kEvictions);
}

template <class Io>
void fields(Io& io, typename Io::template Of<JobForgotten>& command) {
  io.number(command.job);
}

template <class Io>
void fields(Io& io, typename Io::template Of<Configuration>& command) {
  io.number(command.version);
  io.text(command.settings, kMaxSettings);
}

}  // namespace

void encode(const Entry& entry, std::string& out) {
  out.push_back(static_cast<char>(kCommandVersion));
  Pack io(out);
  fields(io, entry.proposer);
  io.number(entry.sequence);
  io.number(entry.command.index());
  std::visit([&](const auto& command) { fields(io, command); }, entry.command);
}

base::Expected<Entry> decode_entry(std::string_view bytes) {
  metrics::Reader reader(bytes);
  if (bytes.size() > kMaxCommandBytes) reader.fail("it is larger than an entry can be");
  if (const std::uint8_t version = reader.byte(); reader.ok() && version != kCommandVersion) {
    reader.fail(fmt::format("its version is {}, known is {}", version, kCommandVersion));
  }
  Unpack io(reader);
  Entry entry;
  fields(io, entry.proposer);
  io.number(entry.sequence);
  choose_alternative(entry.command, static_cast<std::size_t>(reader.varint_below(std::variant_size_v<Command>)));
  std::visit([&](auto& command) { fields(io, command); }, entry.command);
  if (reader.ok() && !reader.at_end()) reader.fail("more bytes follow its end");
  if (!reader.ok()) return std::unexpected(reader.error("entry of the log"));
  return entry;
}

}  // namespace muster::cluster
