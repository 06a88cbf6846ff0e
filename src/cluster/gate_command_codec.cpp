#include "cluster/gate_command_codec.h"

#include <fmt/format.h>

#include "cluster/fields_gate.h"
#include "cluster/options.h"
#include "cluster/variant_codec.h"

namespace muster::cluster {

void encode(const GateEntry& entry, std::string& out) {
  out.push_back(static_cast<char>(kGateCommandVersion));
  Pack io(out);
  fields(io, entry.proposer);
  io.number(entry.sequence);
  io.number(entry.command.index());
  std::visit([&](const auto& command) { fields(io, command); }, entry.command);
}

base::Expected<GateEntry> decode_gate_entry(std::string_view bytes) {
  metrics::Reader reader(bytes);
  if (bytes.size() > kMaxCommandBytes) reader.fail("it is larger than an entry can be");
  if (const std::uint8_t version = reader.byte(); reader.ok() && version != kGateCommandVersion) {
    reader.fail(fmt::format("its version is {}, known is {}", version, kGateCommandVersion));
  }
  Unpack io(reader);
  GateEntry entry;
  fields(io, entry.proposer);
  io.number(entry.sequence);
  choose_alternative(entry.command, static_cast<std::size_t>(reader.varint_below(std::variant_size_v<GateCommand>)));
  std::visit([&](auto& command) { fields(io, command); }, entry.command);
  if (reader.ok() && !reader.at_end()) reader.fail("more bytes follow its end");
  if (!reader.ok()) return std::unexpected(reader.error("entry of the gates' log"));
  return entry;
}

}  // namespace muster::cluster
