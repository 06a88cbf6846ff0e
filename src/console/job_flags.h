// The flags that several commands share, each group with the sentences that --help shows.
#pragma once

#include <cstdint>

#include "console/job_source.h"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace muster::console {

// Cores that a user may ask for: a bound on nonsense, not on machines.
constexpr std::uint32_t kMostCores = 1024;

// What to run: the file, --url, and what changes either of them. `flags` must outlive the parsing, as in all of these.
void add_source_flags(CLI::App& command, JobFlags& flags);
// What the request of --url looks like.
void add_request_flags(CLI::App& command, JobFlags& flags);
// How much load --url gets.
void add_load_flags(CLI::App& command, JobFlags& flags);

// The most that --bytes may ask to be shown of a message.
constexpr std::uint64_t kMostShownBytes = std::uint64_t{64} * 1024;

// Refuses everything but digits that make a number in these bounds; CLI11 itself takes "-1" and "1e3".
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);

}  // namespace muster::console
