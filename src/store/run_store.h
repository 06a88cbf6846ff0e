// Where finished runs are kept. One interface for every engine (SQLite here; others pass the same
// store/run_store_conformance.h). All calls block; an object belongs to one thread, and any number of processes may use
// the same history at once.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "model/result.h"
#include "store/options.h"
#include "store/run_record.h"

namespace muster::store {

// Which runs a listing gives back, the newest first.
struct RunQuery {
  std::string job;                       // only of this job; empty: of all
  std::optional<base::Duration> before;  // only those that started earlier, since 1970
  std::size_t skip = 0;                  // so many of the newest are left out
  std::size_t limit = kMaxListed;        // at most so many; never more than kMaxListed
  bool completed = false;                // only those that came to their end, and not every request of which failed
};

class RunStore {
 public:
  RunStore() = default;
  RunStore(const RunStore&) = delete;
  RunStore& operator=(const RunStore&) = delete;
  virtual ~RunStore() = default;

  // Keeps a run, all of it or nothing, and gives back its id. `record`'s id and bytes are passed over.
  virtual base::Expected<std::string> add(const RunRecord& record, std::string_view source,
                                          const model::RunResult& result) = 0;

  virtual base::Expected<std::vector<RunRecord>> list(const RunQuery& query) = 0;

  // The runs whose ids begin so, the newest first; "%" and the like have no meaning.
  virtual base::Expected<std::vector<RunRecord>> find(std::string_view prefix, std::size_t limit) = 0;

  // The whole of one run; its result knows its id. An id that is not there is an error.
  virtual base::Expected<StoredRun> load(std::string_view id) = 0;

  // How many there were. Ids that are not there are passed over; all of them go, or none.
  virtual base::Expected<std::size_t> remove(const std::vector<std::string>& ids) = 0;

  // Removes the oldest beyond what `retention` allows, never the newest one; says how many.
  virtual base::Expected<std::size_t> prune(const Retention& retention) = 0;
};

}  // namespace muster::store
