// Who runs when, and on how many cores: workflows are put into layers by what they depend on, and those of one layer
// into batches that fit the pool. Pure functions of their input; `muster run` and a cluster's job leader call the same
// ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/job.h"

namespace muster::engine {

struct Candidate {
  std::string name;
  model::Priority priority = model::Priority::kAuto;
  bool is_test = true;    // has at least one test step
  std::uint64_t vus = 1;  // at the peak; open shapes: max_vus
};

struct Placement {
  std::size_t workflow = 0;  // index into the candidates
  std::uint32_t cores = 1;

  bool operator==(const Placement&) const = default;
};

using Batch = std::vector<Placement>;

struct CoreRange {
  std::uint32_t least = 1;
  std::uint32_t most = 1;
};

// The cores that a test workflow of this priority gets of a pool, before its VUs are looked at.
CoreRange core_range(model::Priority priority, std::uint32_t pool);

// The batches of one layer, to run one after the other. Every candidate is in exactly one.
//  - Test workflows are placed in order of priority (exclusive, high, normal, low, auto; equals as given), each into
//  the
//    first batch where all can still have their least. Then what remains of each batch's pool goes to its highest
//    priority, evenly among equals, up to their most, and so on down.
//  - A workflow with fewer VUs than its least takes one core per VU. An exclusive one is alone even then.
//  - Other workflows take one core each and no share: they come beside the tests of the last batch that is not
//    exclusive, at most `pool` per batch, and do not count against the pool.
// A pool of 0 counts as 1.
std::vector<Batch> provision(std::span<const Candidate> candidates, std::uint32_t pool);

// Workflows of one layer that could run together on more cores than the pool has.
struct Shortage {
  std::size_t workflows = 0;
  std::size_t batches = 0;  // that they run in, one after the other
  std::uint32_t pool = 0;
  std::uint32_t enough = 0;  // cores on which they run together; 0: on none, for their priorities ask for too much
};

// Whether the candidates of one layer have to take turns for lack of cores. Exclusive ones ask to be alone and are left
// out.
std::optional<Shortage> shortage(std::span<const Candidate> candidates, std::uint32_t pool);

// A sentence about what will be, or about what was, and what to do.
enum class Tense : std::uint8_t { kWill, kDid };
std::string to_text(const Shortage& shortage, Tense tense);

struct Dependent {
  std::string name;
  std::vector<std::string> depends;
};

// Indexes of workflows by layer: first those that depend on nothing, then those that depend only on layers before, …
// Fails for a name given twice, a dependency that does not exist, and a cycle, whose names the message tells in order.
base::Expected<std::vector<std::vector<std::size_t>>> layers(std::span<const Dependent> workflows);

}  // namespace muster::engine
