// The limits of the model room: what is accepted of a result that comes from another process (a snapshot in shared
// memory, a message of another node, a file) before memory is spent on it, and what merging many of them may grow to.
#pragma once

#include <cstddef>

namespace muster::model {

// Bytes of one encoded workflow result. An hour of 20 steps with per-second series takes about 10 MB. In memory a
// result that was made up to be expensive takes some 30 times its bytes, so this is also the bound on that.
constexpr std::size_t kMaxResultBytes = std::size_t{32} << 20;

// Bytes of one text: a name, a label, a sample of a failing exchange. Longer ones are cut when they are recorded.
constexpr std::size_t kMaxResultText = std::size_t{64} << 10;

// Bytes of one provided value (JSON text). A larger one would make the context of a layer slow to replicate.
constexpr std::size_t kMaxProvidedBytes = std::size_t{1} << 20;

// Steps of a workflow, and checks, static tags, statuses or kept samples of a step.
constexpr std::size_t kMaxResultSteps = 10'000;
constexpr std::size_t kMaxResultDetails = 10'000;

// Seconds of a series: a week. Longer runs must thin their series out first.
constexpr std::size_t kMaxResultSeconds = 7 * 24 * 3600;

// Combinations of tags that a step keeps apart, and those of all steps of a workflow; requests with others are counted
// together as "other". Each takes some 10 kB on every core.
constexpr std::size_t kMaxTagSets = 200;
constexpr std::size_t kMaxTagRows = 5 * kMaxTagSets;
constexpr std::size_t kMaxResultTagged = kMaxTagRows + 1;

// User metrics and distinct notes of a workflow; further ones are not taken up.
constexpr std::size_t kMaxResultMetrics = 1'000;
constexpr std::size_t kMaxResultNotes = 50;

// Provided keys of a workflow, and values of one key (`keep: all` with a `max` above this is refused).
constexpr std::size_t kMaxProvidedKeys = 1'000;
constexpr std::size_t kMaxProvidedValues = 1'000'000;

// Bytes of one encoded run, all workflows and their series: an hour of 100 steps takes about 50 MB. Larger ones are
// kept without the series of their steps. Twice as much would read more, and cost up to 4 GiB of memory for made-up
// bytes.
constexpr std::size_t kMaxRunBytes = std::size_t{128} << 20;

// Workflows of a run.
constexpr std::size_t kMaxRunWorkflows = 10'000;

// Cores that took part in one workflow.
constexpr std::size_t kMaxResultCores = 100'000;

}  // namespace muster::model
