// How far `pick: unique` has come in each data source, for all workflows of a run: memory that their executor processes
// share, so that no row is given out twice. Opened before the first fork; what it hands out keeps it alive.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/job.h"

namespace muster::engine {

class UniqueRows {
 public:
  using Cursor = std::atomic<std::uint64_t>;

  static base::Expected<UniqueRows> open(const std::vector<model::DataSource>& sources);

  // The next row of `source` that nobody has had; null if there is no such source.
  std::shared_ptr<Cursor> of(std::string_view source) const;

 private:
  std::vector<std::string> names_;
  std::shared_ptr<Cursor[]> cursors_;  // by name
};

}  // namespace muster::engine
