// The history of runs as commands use it: where it lies, what is kept of a run, and how a user names one. Main thread.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "console/exit_codes.h"
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

// Why a command cannot do what was asked, and what it exits with.
struct Refusal {
  std::string message;
  int exit_code = kBadInput;  // kCouldNotRun: the history or a run in it cannot be read
};
inline std::unexpected<Refusal> refuse(std::string message) {
  return std::unexpected<Refusal>({.message = std::move(message)});
}
inline std::unexpected<Refusal> unreadable(std::string message) {
  return std::unexpected<Refusal>({.message = std::move(message), .exit_code = kCouldNotRun});
}

// A run by its id, the beginning of one that fits no other, `latest`, or `latest~2` for the second before it; with
// `job`, the latest of that job that was completed. Errors say what was meant, or what there is.
std::expected<store::RunRecord, Refusal> find_run(store::RunStore& history, std::string_view reference,
                                                  std::string_view job = {});

bool is_latest(std::string_view reference);  // `latest` or `latest~N`

}  // namespace muster::console
