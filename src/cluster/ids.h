// The names of things in a cluster: jobs, clients, lives of processes, parts of workflows, fences and bodies. Types of
// their own, so that none is taken for another; all are plain, ordered values.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/node_id.h"
#include "resilience/fence.h"

namespace muster::cluster {

using base::kNoNode;
using base::NodeId;

// Chosen by the client before its first attempt to submit, so that a repeated submit is the same job. Never reused.
enum class JobId : std::uint64_t {};

// Whom the client's credential names. Limits count per client, through whichever gate it comes.
enum class ClientId : std::uint64_t {};

// One life of a process: drawn at its start, higher than all earlier ones of the same node. What a former life had in
// memory, and a worker's executors, are gone with it. (SWIM's incarnation rises with each refutation: another number.)
enum class Life : std::uint64_t {};

constexpr std::uint64_t number(JobId id) {
  return static_cast<std::uint64_t>(id);
}
constexpr std::uint64_t number(ClientId id) {
  return static_cast<std::uint64_t>(id);
}
constexpr std::uint64_t number(Life life) {
  return static_cast<std::uint64_t>(life);
}

// A process of a node, as opposed to the node over all its lives.
struct Process {
  NodeId node = kNoNode;
  Life life{};

  auto operator<=>(const Process&) const = default;
};

// One worker's share of a workflow: indexes into the job's outline and into the workflow's cut.
struct PartId {
  JobId job{};
  std::uint32_t workflow = 0;
  std::uint32_t part = 0;

  auto operator<=>(const PartId&) const = default;
};

// Issued by the log, compared in order. Epochs count a job's leaders: each names one process, so two lives of one
// manager never share one. Attempts count a part's provisions. The fence of a running part does not change when its
// job gets another leader.
using resilience::Fence;

// The name of a body (bundle, context, result): a cryptographic hash of its bytes.
struct BodyHash {
  std::array<std::uint64_t, 4> words{};

  auto operator<=>(const BodyHash&) const = default;
};
constexpr BodyHash kNoBody{};

struct BodyRef {
  BodyHash hash;
  std::uint64_t size = 0;  // bytes

  auto operator<=>(const BodyRef&) const = default;
};

// SHA-256 in production; handed in, as this room links no cryptography.
using HashBody = BodyHash (*)(std::string_view bytes);

}  // namespace muster::cluster
