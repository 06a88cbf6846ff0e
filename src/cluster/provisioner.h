// Chooses workers: healthy before degraded, at random among equals. Draining workers, those behind an open circuit and
// those that failed the part are not among the candidates. Pure functions; the ledger has the last word.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "cluster/ids.h"
#include "cluster/ledger.h"

namespace muster::cluster {

struct Candidate {
  Process worker;
  std::uint32_t free = 0;  // cores
  bool degraded = false;
  bool on_trial = false;  // its circuit is half-open: one part, to see whether it answers
};

struct Share {
  Process worker;
  std::uint32_t cores = 0;

  bool operator==(const Share&) const = default;
};

// `cores` cores in at most `most` shares, one per worker; empty if they are not there. If random workers are too many,
// the largest are taken.
std::vector<Share> spread_over(std::span<const Candidate> candidates, std::uint32_t cores, std::size_t most,
                               base::Random& random);

// One worker for a part that needs these cores.
std::optional<Process> place(std::span<const Candidate> candidates, std::uint32_t cores,
                             std::span<const Process> failed_on, base::Random& random);

// Whether a worker with these cores may ever take a part that waits: it is large enough and has not failed it.
bool may_take(const LedgerPart& part, const Process& worker, std::uint32_t cores);
// Whether there is one.
bool placeable(const Ledger& ledger, const LedgerPart& part);

// What a job wants next: cores for workflows of the batch that is its turn, and for parts that wait.
struct Want {
  std::uint32_t workflow = 0;
  std::optional<std::uint32_t> part;  // else the whole workflow, to be cut
  std::uint32_t cores = 0;
};

// By the ledger alone, given a pool of so many cores, so that every manager knows what a job ahead in the queue waits
// for. Batches of a layer run in turn.
std::vector<Want> wants(const LedgerJob& job, std::uint32_t pool);

// The cores that workers with these many, at most `most` of them, have together: what one workflow can span.
std::uint32_t reachable(std::vector<std::uint32_t> cores, std::size_t most);

}  // namespace muster::cluster
