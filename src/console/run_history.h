// What `muster run` has to do with other runs: keeps this one, compares it with a baseline, and fails it if --fail-if
// says so. Prepared before the run, so that what is wrong is told then; nothing here disturbs the run itself.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "console/history.h"
#include "model/job.h"
#include "model/result.h"
#include "report/comparison.h"
#include "report/fail_if.h"
#include "store/run_record.h"

namespace CLI {
class App;
}

namespace muster::console {

struct HistoryFlags {
  bool no_save = false;
  std::vector<std::string> labels;   // NAME=VALUE
  std::string baseline;              // an id, `latest`, or a file of --out run=FILE
  std::vector<std::string> fail_if;  // "p95 +10%"
};

void add_history_flags(CLI::App& command, HistoryFlags& flags, const std::string& group);

class RunHistory {
 public:
  // Reads the flags and loads the baseline. `latest` that finds no completed run of the job is no error: the first run
  // of a pipeline has nothing to be compared with. A history that cannot be read is one: it would let every change
  // pass.
  static std::expected<RunHistory, Refusal> prepare(const HistoryFlags& flags, const model::Job& job);

  // At the end of the run: compares, judges --fail-if, which may turn its verdict, and keeps the run under the id that
  // `result` then has. With `strict`, conditions that could not be judged are an error.
  void conclude(model::RunResult& result, bool strict);

  // Null without a baseline.
  const report::Comparison* comparison() const { return comparison_ ? &*comparison_ : nullptr; }

  // The file that --baseline names; empty where it names none or a run that is kept.
  const std::string& baseline_file() const { return baseline_file_; }

  // How to see the run again, for the end of the summary; empty where it was not kept.
  std::string farewell(const model::RunResult& result) const;

  // What went wrong or could not be done, one sentence each; for standard error.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  void fail_run(model::RunResult& result, bool strict) const;

  bool keep_ = true;
  std::string source_;  // the job's text, as reports show it
  store::Labels labels_;
  std::optional<model::RunResult> baseline_;
  report::RunIdentity baseline_is_;
  std::string baseline_file_;
  std::vector<report::FailIf> conditions_;
  std::optional<report::Comparison> comparison_;
  std::vector<std::string> problems_;
};

// A run that --baseline or `muster results compare` names: one that is kept, or a file of --out run=FILE.
struct NamedRun {
  report::RunIdentity identity;
  model::RunResult result;
};
// With `job`, `latest` means the latest of that job that was completed.
std::expected<NamedRun, Refusal> load_named_run(const std::string& reference, const std::string& job = "");

}  // namespace muster::console
