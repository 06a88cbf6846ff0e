// What simulated executors do: how long a part runs, what it counts, and how it misbehaves. Everything follows from the
// part and the attempt, so that the truth is known without asking anybody in the cluster.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/time.h"
#include "cluster/client.h"
#include "cluster/effects.h"

namespace muster::sim {

enum class Conduct : std::uint8_t {
  kNormal,
  kFails,    // ends with an error of its own: final
  kCrashes,  // dies without a result
  kHangs,    // shows no sign of life and obeys only a kill
  kDeaf,     // runs as it should, and obeys only a kill
  kQuiet,    // shows no sign of life for long, and asks for time
};

struct Program {
  Conduct conduct = Conduct::kNormal;
  base::Duration length{};
};

// Jobs that are to run without any trouble of their own have this bit in their names.
constexpr std::uint64_t kCleanJob = std::uint64_t{1} << 40;

// Jobs that run for minutes, to be cancelled while they do, have this one; they have no other trouble.
constexpr std::uint64_t kLongJob = std::uint64_t{1} << 41;

Program program_of(const cluster::PartId& part, std::uint64_t attempt, double trouble, base::Duration longest);
// Whether some attempt of the workflow may end with an error of its own.
bool may_fail(cluster::JobId job, std::uint32_t workflow, double trouble);

// What a share of a workflow counts when it has run to its end: the same however the workflow is cut.
cluster::Counts counts_of(cluster::JobId job, std::uint32_t workflow, const cluster::Slice& slice);
// What it has counted after this share of its time.
cluster::Counts counts_after(const cluster::Counts& all, double share);

// The bytes that an executor leaves: they differ by attempt.
std::string result_of(const cluster::PartId& part, const cluster::Fence& fence, const cluster::Counts& counts);

// A job of three layers.
cluster::JobRequest draw_job(cluster::JobId job, base::Random& random);

// What a part provides to later workflows: this text under kToken.
constexpr std::string_view kToken = "token";
std::string token_of(std::uint32_t workflow, std::uint32_t part);

cluster::BodyHash hash_body(std::string_view bytes);

}  // namespace muster::sim
