// Windows and totals of one running job, from cumulative progress of its parts: 100 ms by the time of collection,
// closed a little after their end; what comes later amends the totals and the window that is open. Aggregates use the
// last value of every attempt even if it is silent, so totals never fall; a lost attempt's counts stay, shown as lost.
// Bounded by the parts of the job and the windows that are open. Owned by a JobMachine.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/time.h"
#include "cluster/ids.h"
#include "cluster/ledger.h"
#include "cluster/messages_worker.h"
#include "cluster/windows_row.h"

namespace muster::cluster {

struct WindowOptions {
  base::Duration width = std::chrono::milliseconds(100);
  // After the end of a window, for samples under way. Longer is more complete, and later.
  base::Duration close_after = std::chrono::milliseconds(250);
  // Closed windows that nobody fetched are dropped after this.
  base::Duration keep = std::chrono::seconds(5);
};

class Windows {
 public:
  explicit Windows(const WindowOptions& options = {}) : options_(options) {}

  // `offset` is added to the worker's clock to get this manager's. Stale sequences change nothing. False if so.
  bool add(const PartProgress& progress, base::Duration offset, base::Instant now);

  // What the ledger says of the parts: which attempts count, which are lost, which ended with which counts.
  void sync(JobId id, const LedgerJob& job);

  // Windows closed since the last call, oldest first, at most `most`; and when the next one closes.
  std::vector<WindowRow> closed(const LedgerJob& job, std::size_t most, base::Instant now);
  base::Instant deadline() const;

  std::vector<TotalRow> totals() const;
  // Whether totals changed since the last push.
  bool changed() const { return changed_; }
  void pushed() { changed_ = false; }

 private:
  struct Attempt {
    std::uint64_t sequence = 0;
    Counts counts;
    std::uint64_t vus = 0;
    metrics::CoarseHistogram latency;
    bool lost = false;
    bool ended = false;
  };
  struct Key {
    std::uint32_t workflow = 0;
    std::uint32_t part = 0;
    Fence fence;

    auto operator<=>(const Key&) const = default;
  };
  struct Open {
    Counts counts;
    std::set<std::uint32_t> reported;  // parts
  };

  WindowOptions options_;
  std::map<Key, Attempt> attempts_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, Open> open_;  // by window and workflow
  std::uint64_t last_closed_ = 0;
  bool changed_ = false;
};

}  // namespace muster::cluster
