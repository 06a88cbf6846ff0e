// Windows and totals of one running job, from the cumulative progress of its parts (metrics/time_windows.h): 100 ms by
// the time of collection, totals that never fall, counts of lost attempts told apart. Bounded by the attempts that the
// log issued. Owned by a JobMachine.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/time.h"
#include "cluster/ids.h"
#include "cluster/ledger.h"
#include "cluster/messages_worker.h"
#include "cluster/windows_row.h"
#include "metrics/time_windows.h"

namespace muster::cluster {

class Windows {
 public:
  // `offset` is added to the worker's clock to get this manager's. The caller has checked that the attempt is the
  // ledger's.
  void add(const PartProgress& progress, base::Duration offset, base::Instant now);

  // What the ledger says of the parts: which attempts are lost, and which ended with which counts.
  void sync(const LedgerJob& job, base::Instant now);

  // Windows closed since the last call, oldest first, the newest `most` of them.
  std::vector<WindowRow> closed(const LedgerJob& job, std::size_t most, base::Instant now);
  // When the next one closes.
  base::Instant deadline() const;

  std::vector<TotalRow> totals() const;
  // Whether totals changed since the last push.
  bool changed() const { return changed_; }
  void pushed() { changed_ = false; }

 private:
  struct Source {
    std::uint32_t part = 0;
    Fence fence;

    auto operator<=>(const Source&) const = default;
  };
  // Cumulative over an attempt.
  struct Sample {
    Counts counts;
    metrics::CoarseHistogram latency;

    void add(const Sample& other);
    std::optional<Sample> since(const Sample& earlier) const;
  };
  struct Last {
    std::uint64_t vus = 0;
    metrics::CoarseHistogram latency;
    bool over = false;  // lost or ended
  };
  struct Workflow {
    metrics::TimeWindows<Source, Sample> samples{metrics::kManagerWindowDelay};
    std::map<Source, Last> last;
    std::vector<Source> open;  // those of `last` that were not over when the ledger was looked at; ascending
    std::vector<std::optional<Fence>> settled;  // by part: the attempt whose end was taken in, if it is the ledger's
    std::uint64_t next = 0;                     // the first window that was not given out
  };

  void sync(Workflow& workflow, const std::vector<LedgerPart>& parts, base::Instant now);

  std::map<std::uint32_t, Workflow> workflows_;
  bool changed_ = false;
};

}  // namespace muster::cluster
