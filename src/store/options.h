// The limits of the store room: what is kept of finished runs, for how long, and what is accepted when it is read back.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace muster::store {

// Runs that are kept, the newest ones; beyond either bound the oldest go. A run of a minute takes some 50 kB, an hour
// of 20 steps some 5 MB. More keeps a longer past and a larger file.
struct Retention {
  std::uint64_t runs = 1'000;
  std::uint64_t bytes = std::uint64_t{2} << 30;  // of results and sources as they lie in the file
};

// How long a call waits for another process that is writing. Runs write for milliseconds; longer only helps on disks
// that hang, and holds up the end of a run for as long.
constexpr std::chrono::milliseconds kBusyWait{5'000};

// Bytes of one packed result. A larger one is refused when it is written and when it is read.
constexpr std::size_t kMaxPackedBytes = std::size_t{64} << 20;

// Bytes of the job's text that are kept; a longer one loses its end, and says so in its last line.
constexpr std::size_t kMaxSourceBytes = std::size_t{1} << 20;

// Labels of a run, and the length of their names and values in bytes: they are for finding runs, not for notes.
constexpr std::size_t kMaxLabels = 50;
constexpr std::size_t kMaxLabelName = 64;
constexpr std::size_t kMaxLabelValue = 200;

// Rows that one listing gives back. A list in a terminal is shorter; scripts page by time.
constexpr std::size_t kMaxListed = 10'000;

}  // namespace muster::store
