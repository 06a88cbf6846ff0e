// The history of runs as commands use it: where it lies, what is kept of a run, and how a user names one. Main thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/result.h"
#include "store/run_store.h"
#include "store/sqlite_run_store.h"

namespace muster::console {

// Null, for kRead, where no run was ever kept.
base::Expected<std::unique_ptr<store::RunStore>> open_history(store::Purpose purpose);

// From what was written after --label: "branch=main". Names are letters, digits, '.', '-' and '_'.
base::Expected<store::Labels> parse_labels(const std::vector<std::string>& written);

store::RunRecord record_of(const model::RunResult& result, store::Labels labels);

// Keeps a run, lets the oldest go where there are too many, and gives back its id.
base::Expected<std::string> keep_run(const model::RunResult& result, std::string_view source,
                                     const store::Labels& labels);

// A run by its id, the beginning of one that fits no other, `latest`, or `latest~2` for the second before it; with
// `job`, the latest of that job that was completed. Errors say what was meant, or what there is.
base::Expected<store::RunRecord> find_run(store::RunStore& history, std::string_view reference,
                                          std::string_view job = {});

bool is_latest(std::string_view reference);  // `latest` or `latest~N`

}  // namespace muster::console
