// What is kept of a finished run, as plain values: the row that lists show, and the whole.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/result.h"

namespace muster::store {

using Labels = std::vector<std::pair<std::string, std::string>>;  // name → value, ascending by name, each name once

// One run in a list: enough to find it and to see how it went, without reading its result.
struct RunRecord {
  std::string id;            // "r-20261115-k3f8"; given by the store
  base::Duration started{};  // time of day since 1970
  base::Duration elapsed{};
  std::string job;
  std::string version;  // of muster
  Labels labels;
  model::Verdict verdict = model::Verdict::kPassed;
  int exit_code = 0;
  std::uint64_t requests = 0;
  std::uint64_t failed = 0;
  double rate = 0;  // requests a second
  base::Duration p50{};
  base::Duration p95{};
  base::Duration p99{};
  std::uint64_t bytes = 0;  // that the run takes in the store; told by it
};

struct StoredRun {
  RunRecord record;
  std::string source;  // the job's text as reports show it: credentials in it are masked
  model::RunResult result;
};

}  // namespace muster::store
