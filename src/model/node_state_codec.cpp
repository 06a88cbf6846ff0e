#include "model/node_state_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "metrics/wire.h"

namespace muster::model {
namespace {

using metrics::Reader;
using metrics::Writer;

enum class Role : std::uint8_t { kWorker, kManager, kGate };

constexpr std::uint8_t kHighestLevel = 4;

double finite_or_zero(double value) {
  return std::isfinite(value) ? value : 0;
}

template <class Number>
Number read_number(Reader& reader) {
  return static_cast<Number>(reader.varint_below(std::uint64_t{std::numeric_limits<Number>::max()} + 1));
}

void write(Writer& writer, const ExtensionRequest& request) {
  writer.byte(static_cast<std::uint8_t>(request.reason));
  writer.varint(request.progress);
  writer.varint(request.ends_in_seconds);
  writer.varint(request.active);
}

ExtensionRequest read_extension(Reader& reader) {
  ExtensionRequest request;
  request.reason = static_cast<ExtensionReason>(reader.varint_below(3));
  request.progress = read_number<Permille>(reader);
  request.ends_in_seconds = read_number<std::uint32_t>(reader);
  request.active = read_number<std::uint32_t>(reader);
  return request;
}

struct RoleWriter {
  Writer& writer;

  void operator()(const WorkerState& worker) const {
    writer.byte(static_cast<std::uint8_t>(Role::kWorker));
    writer.varint(worker.total_cores);
    writer.varint(worker.free_cores);
    writer.varint(worker.completed_cores);
    writer.varint(worker.cpu);
    writer.varint(worker.memory);
    const std::size_t named = std::min(worker.parts.size(), kMaxNamedParts);
    writer.varint(named);
    for (std::size_t part = 0; part < named; ++part) writer.varint(worker.parts[part]);
    writer.varint(worker.part_count);
    writer.varint(worker.part_digest);
    writer.boolean(worker.extension.has_value());
    if (worker.extension) write(writer, *worker.extension);
  }
  void operator()(const ManagerState& manager) const {
    writer.byte(static_cast<std::uint8_t>(Role::kManager));
    writer.text(std::string_view(manager.datacenter).substr(0, kMaxDatacenterName));
    writer.boolean(manager.leads);
    writer.boolean(manager.has_quorum);
    writer.varint(manager.term);
    writer.varint(manager.jobs);
    writer.varint(manager.workers);
    writer.varint(manager.healthy_workers);
    writer.varint(manager.free_cores);
    writer.varint(manager.total_cores);
  }
  void operator()(const GateState& gate) const {
    writer.byte(static_cast<std::uint8_t>(Role::kGate));
    const std::size_t named = std::min(gate.datacenters.size(), kMaxNamedDatacenters);
    writer.varint(named);
    for (std::size_t place = 0; place < named; ++place) {
      writer.text(std::string_view(gate.datacenters[place]).substr(0, kMaxDatacenterName));
    }
    writer.varint(gate.datacenter_count);
    writer.varint(gate.jobs);
  }
};

WorkerState read_worker(Reader& reader) {
  WorkerState worker;
  worker.total_cores = read_number<std::uint32_t>(reader);
  worker.free_cores = read_number<std::uint32_t>(reader);
  worker.completed_cores = read_number<std::uint32_t>(reader);
  worker.cpu = read_number<Permille>(reader);
  worker.memory = read_number<Permille>(reader);
  worker.parts.resize(reader.length(kMaxNamedParts));
  for (std::uint64_t& part : worker.parts) part = reader.varint();
  worker.part_count = read_number<std::uint32_t>(reader);
  worker.part_digest = reader.varint();
  if (reader.boolean()) worker.extension = read_extension(reader);
  return worker;
}

ManagerState read_manager(Reader& reader) {
  ManagerState manager;
  manager.datacenter = reader.text(kMaxDatacenterName);
  manager.leads = reader.boolean();
  manager.has_quorum = reader.boolean();
  manager.term = reader.varint();
  manager.jobs = read_number<std::uint32_t>(reader);
  manager.workers = read_number<std::uint32_t>(reader);
  manager.healthy_workers = read_number<std::uint32_t>(reader);
  manager.free_cores = read_number<std::uint32_t>(reader);
  manager.total_cores = read_number<std::uint32_t>(reader);
  return manager;
}

GateState read_gate(Reader& reader) {
  GateState gate;
  gate.datacenters.resize(reader.length(kMaxNamedDatacenters));
  for (std::string& name : gate.datacenters) name = reader.text(kMaxDatacenterName);
  gate.datacenter_count = read_number<std::uint32_t>(reader);
  gate.jobs = read_number<std::uint32_t>(reader);
  return gate;
}

}  // namespace

std::string encode(const NodeState& state) {
  std::string out;
  Writer writer(out);
  writer.byte(kNodeStateVersion);
  writer.byte(static_cast<std::uint8_t>(state.life));
  writer.boolean(state.accepting);
  writer.varint(state.capacity);
  writer.real(finite_or_zero(state.throughput));
  writer.real(finite_or_zero(state.expected_throughput));
  writer.byte(static_cast<std::uint8_t>(state.overload));
  writer.varint(state.major);
  writer.varint(state.minor);
  writer.byte(std::min(state.health_level, kHighestLevel));
  std::visit(RoleWriter{writer}, state.role);
  return out;
}

base::Expected<NodeState> decode_node_state(std::string_view bytes) {
  Reader reader(bytes);
  NodeState state;
  if (const std::uint8_t version = reader.byte(); reader.ok() && version != kNodeStateVersion) {
    reader.fail(fmt::format("its version is {}, known is {}", version, kNodeStateVersion));
  }
  state.life = static_cast<NodeLife>(reader.varint_below(5));
  state.accepting = reader.boolean();
  state.capacity = read_number<std::uint32_t>(reader);
  state.throughput = reader.real();
  state.expected_throughput = reader.real();
  state.overload = static_cast<OverloadState>(reader.varint_below(4));
  state.major = read_number<std::uint16_t>(reader);
  state.minor = read_number<std::uint16_t>(reader);
  state.health_level = static_cast<std::uint8_t>(reader.varint_below(kHighestLevel + 1));
  switch (static_cast<Role>(reader.varint_below(3))) {
    case Role::kWorker:
      state.role = read_worker(reader);
      break;
    case Role::kManager:
      state.role = read_manager(reader);
      break;
    case Role::kGate:
      state.role = read_gate(reader);
      break;
  }
  if (reader.ok() && !reader.at_end()) reader.fail("something follows it");
  if (!reader.ok()) return std::unexpected(reader.error("state of a node"));
  return state;
}

}  // namespace muster::model
