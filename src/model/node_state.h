// What a node of the cluster says of itself in every ack of membership: what it is, how it does, whether it takes work,
// and what its role adds. Plain values; their bytes are in node_state_codec.h and always fit into an ack.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace muster::model {

// Most parts a worker names in its state; with more, the list ends here and count and digest tell the rest.
constexpr std::size_t kMaxNamedParts = 16;
// Datacenters a gate names, and bytes of a datacenter's name. Together they stay within a datagram.
constexpr std::size_t kMaxNamedDatacenters = 6;
constexpr std::size_t kMaxDatacenterName = 40;
// Bytes of an encoded state, which the limits above keep it to.
constexpr std::size_t kMaxNodeStateBytes = 384;

enum class NodeLife : std::uint8_t { kStarting, kHealthy, kDegraded, kDraining, kOffline };
enum class OverloadState : std::uint8_t { kHealthy, kBusy, kStressed, kOverloaded };

// A thousandth as unit: 1000 is all of it. Loads above that are told as they are, up to 65.
using Permille = std::uint16_t;

enum class ExtensionReason : std::uint8_t { kLongWorkflow, kPause, kContention };

// A worker asks for more time before it counts as stuck.
struct ExtensionRequest {
  ExtensionReason reason = ExtensionReason::kLongWorkflow;
  Permille progress = 0;
  std::uint32_t ends_in_seconds = 0;  // as far as the worker can tell
  std::uint32_t active = 0;           // workflows under way

  bool operator==(const ExtensionRequest&) const = default;
};

struct WorkerState {
  std::uint32_t total_cores = 0;
  std::uint32_t free_cores = 0;
  std::uint32_t completed_cores = 0;  // done early, of parts that run on
  Permille cpu = 0;                   // of its own process, executors excluded
  Permille memory = 0;
  std::vector<std::uint64_t> parts;  // running; the first kMaxNamedParts of them
  std::uint32_t part_count = 0;      // all of them
  std::uint64_t part_digest = 0;     // over all of them; 0 if all are named
  std::optional<ExtensionRequest> extension;

  bool operator==(const WorkerState&) const = default;
};

struct ManagerState {
  std::string datacenter;
  bool leads = false;
  bool has_quorum = false;
  std::uint64_t term = 0;
  std::uint32_t jobs = 0;
  std::uint32_t workers = 0;
  std::uint32_t healthy_workers = 0;
  std::uint32_t free_cores = 0;  // of healthy workers
  std::uint32_t total_cores = 0;

  bool operator==(const ManagerState&) const = default;
};

struct GateState {
  std::vector<std::string> datacenters;  // connected; the first kMaxNamedDatacenters of them
  std::uint32_t datacenter_count = 0;    // all of them
  std::uint32_t jobs = 0;

  bool operator==(const GateState&) const = default;
};

struct NodeState {
  NodeLife life = NodeLife::kStarting;
  bool accepting = false;
  std::uint32_t capacity = 0;  // what it could take on now, in units of its role (cores, jobs)
  double throughput = 0;       // finished units of work per second, and what they should be
  double expected_throughput = 0;
  OverloadState overload = OverloadState::kHealthy;
  std::uint16_t major = 0;  // protocol version
  std::uint16_t minor = 0;
  std::uint8_t health_level = 0;                            // membership's level of degradation, 0 to 4
  std::variant<WorkerState, ManagerState, GateState> role;  // the type of the node

  bool operator==(const NodeState&) const = default;
};

}  // namespace muster::model
