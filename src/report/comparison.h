// What changed between two runs, as plain values: made by compare() (report/compare.h), shown in the terminal, in the
// JSON summary and in the HTML report. No owner, no thread, no IO.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/result.h"

namespace muster::report {

// One of the two runs, as far as a reader needs it to know which one is meant.
struct RunIdentity {
  std::string id;  // "r-20261115-4f2a", the name of a file, or "this run"
  std::string job;
  std::string version;       // of muster
  base::Duration started{};  // time of day since 1970
  base::Duration elapsed{};
  model::Verdict verdict = model::Verdict::kPassed;
  std::uint64_t requests = 0;
  std::vector<std::pair<std::string, std::string>> labels;
};

// What `before` and `after` of a delta count.
enum class DeltaUnit : std::uint8_t {
  kSeconds,    // a latency
  kPerSecond,  // requests per second
  kShare,      // of 1: failed requests of all
};

// One metric of one place in both runs.
struct Delta {
  std::string metric;    // "p50", "p90", "p95", "p99", "p99.9", "mean", "max", "rate" or "failed"
  std::string workflow;  // empty: the whole run
  std::string step;      // empty: the whole workflow or run
  DeltaUnit unit = DeltaUnit::kSeconds;
  double before = 0;
  double after = 0;

  // True: `change`, `low` and `high` are fractions of `before` (0.05: 5 % more). False (metric "failed", whose `before`
  // is often 0): they are differences of shares (0.01: one more of a hundred requests failed).
  bool relative = true;
  double change = 0;
  double low = 0;  // 95 % interval of `change`; only if `judged`
  double high = 0;

  double p = 1;              // how likely chance alone is, two-sided, before any correction; only if `judged`
  bool judged = false;       // enough seconds and samples on both sides for an interval
  bool significant = false;  // unlikely to be chance, after correction for the number of questions, and not negligible
  bool worse = false;        // the direction of `change` is the bad one for this metric, significant or not
  bool headline = false;     // one of the few that decide Comparison::verdict
  bool rare = false;         // a percentile that few samples decide: shown, and to be read with care
};

enum class ComparisonVerdict : std::uint8_t {
  kSame,     // no headline metric changed significantly
  kWorse,    // at least one got worse
  kBetter,   // at least one got better, none worse
  kUnknown,  // nothing could be judged; the notes say why
};
std::string_view to_text(ComparisonVerdict verdict);  // "same", "worse", "better", "unknown"

// What became of one `--fail-if`.
struct ConditionVerdict {
  std::string text;      // as written: "p95 +10%"
  bool judged = false;   // false: there was too little to go by, `sentence` says what
  bool fired = false;    // it holds, and not by chance: the run fails
  std::string sentence;  // "p95 rose by 12 % (9.8 % to 14 %), the limit is 10 %"
};

struct Comparison {
  RunIdentity before;  // the baseline
  RunIdentity after;
  ComparisonVerdict verdict = ComparisonVerdict::kUnknown;
  std::string sentence;            // the verdict for a reader: "p95 got worse by 12 % (9.8 % to 14 %)"
  std::vector<Delta> deltas;       // in order of importance: headline, whole run, then steps by size of change
  std::vector<std::string> notes;  // what limits it: a different load, too few seconds, marks, steps gone
  std::vector<ConditionVerdict> conditions;  // of --fail-if, in the order written
  std::size_t seconds_before = 0;            // whole seconds of the series that took part
  std::size_t seconds_after = 0;
};

}  // namespace muster::report
