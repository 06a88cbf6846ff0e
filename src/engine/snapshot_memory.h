// Memory that an executor process and its parent share: the latest snapshot of the totals, in two slots written in
// turn, and the per-second series, only ever appended to. Whatever was published outlives the executor, however it
// ends. One writer (the executor), one reader (the parent).
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace muster::engine {

class SnapshotMemory {
 public:
  SnapshotMemory() = default;
  SnapshotMemory(const SnapshotMemory&) = delete;
  SnapshotMemory& operator=(const SnapshotMemory&) = delete;
  ~SnapshotMemory();

  // Before the fork.
  base::Expected<void> open();

  // The writer's side. False if `bytes` do not fit.
  bool publish_totals(std::string_view bytes);
  bool append_series(std::string_view bytes);
  void finish(std::string_view error);

  // The reader's side.
  std::uint64_t sequence() const;
  // A copy of the latest totals; empty if there are none yet.
  std::string totals() const;
  // The next series record that was not read yet; false if there is none.
  bool next_series(std::string& bytes);
  bool finished() const;
  // Why the run could not be done, as told to finish(); empty: it could.
  std::string error() const;

 private:
  struct Header;

  char* slot(std::uint64_t number) const;
  char* series() const;

  Header* header_ = nullptr;
  std::uint64_t series_read_ = 0;
};

}  // namespace muster::engine
