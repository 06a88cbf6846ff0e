#include "console/run_history.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>

#include "base/escapes.h"
#include "console/history.h"
#include "engine/redaction.h"
#include "engine/verdict.h"
#include "report/compare.h"
#include "report/source_mask.h"
#include "store/packed_run.h"

namespace muster::console {
namespace {

bool is_file(const std::string& path) {
  struct stat found{};
  return ::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode);
}

std::expected<NamedRun, Refusal> load_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes;
  std::vector<char> chunk(1 << 20);
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || file.gcount() > 0) {
    bytes.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
    if (bytes.size() > store::kMaxPackedBytes) break;
  }
  if (!store::looks_packed(bytes)) {
    return refuse(fmt::format(
        "'{}' is no kept run; 'muster run --out run=FILE' and 'muster results export ID run=FILE' write one (a JSON "
        "summary does not hold enough to tell a change from chance)",
        path));
  }
  auto result = store::unpack(bytes, fmt::format("the file '{}'", path));
  if (!result) return refuse(result.error().message);
  report::RunIdentity identity = report::identity_of(*result, path);
  return NamedRun{std::move(identity), std::move(*result)};
}

std::expected<NamedRun, Refusal> load_kept(store::RunStore& history, const std::string& id) {
  auto run = history.load(id);
  if (!run) return unreadable(run.error().message);
  report::RunIdentity identity = report::identity_of(run->result);
  identity.labels = std::move(run->record.labels);
  return NamedRun{std::move(identity), std::move(run->result)};
}

}  // namespace

void add_history_flags(CLI::App& command, HistoryFlags& flags, const std::string& group) {
  command.add_flag("--no-save", flags.no_save, "Do not keep this run for 'muster results'")->group(group);
  command.add_option("--label", flags.labels, "Mark the kept run: branch=main; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option(
          "--baseline", flags.baseline,
          "Compare with an earlier run: its id, 'latest' (completed, of the same job), or a file of --out run=FILE")
      ->type_name("RUN")
      ->group(group);
  command
      .add_option(
          "--fail-if", flags.fail_if,
          "With --baseline: exit 99 on such a change, if it is more than chance: 'p95 +10%', 'rate -5%', 'failed "
          "+1%', 'p99 step=login +20ms'; may be repeated")
      ->type_name("CHANGE")
      ->allow_extra_args(false)
      ->group(group);
}

std::expected<NamedRun, Refusal> load_named_run(const std::string& reference, const std::string& job) {
  if (is_file(reference)) return load_file(reference);
  auto history = open_history(store::Purpose::kRead);
  if (!history) return unreadable(history.error().message);
  if (*history == nullptr)
    return refuse(fmt::format("there is no run '{}': none is kept yet", base::one_line(reference)));
  auto record = find_run(**history, reference, job);
  if (!record) return std::unexpected(record.error());
  return load_kept(**history, record->id);
}

std::expected<RunHistory, Refusal> RunHistory::prepare(const HistoryFlags& flags, const model::Job& job) {
  RunHistory made;
  made.keep_ = !flags.no_save;
  if (made.keep_) made.source_ = report::masked_source(job.source);
  auto labels = parse_labels(flags.labels);
  if (!labels) return refuse(labels.error().message);
  if (flags.no_save && !labels->empty()) return refuse("--label marks a kept run, and --no-save keeps none");
  made.labels_ = std::move(*labels);
  const std::vector<std::string> spelled = engine::spellings(job.secrets);
  for (auto& [name, value] : made.labels_) engine::redact(value, spelled);
  for (const std::string& written : flags.fail_if) {
    auto condition = report::parse_fail_if(written);
    if (!condition) return refuse(condition.error().message);
    made.conditions_.push_back(std::move(*condition));
  }
  if (flags.baseline.empty()) {
    if (!made.conditions_.empty()) {
      return refuse("--fail-if needs something to compare with; name a run by --baseline, 'latest' for example");
    }
    return made;
  }
  auto baseline = load_named_run(flags.baseline, job.name);
  if (baseline) {
    if (is_file(flags.baseline)) made.baseline_file_ = flags.baseline;
    made.baseline_ = std::move(baseline->result);
    made.baseline_is_ = std::move(baseline->identity);
    return made;
  }
  const Refusal& why = baseline.error();
  if (why.exit_code == kCouldNotRun) {
    return unreadable(
        fmt::format("--baseline {}: {}\nThe run was not begun: it could not be compared. Leave out --baseline to run "
                    "without a comparison",
                    flags.baseline, why.message));
  }
  if (!is_latest(flags.baseline)) return refuse(fmt::format("--baseline: {}", why.message));
  made.problems_.push_back(fmt::format("nothing to compare with: {}", why.message));
  return made;
}

void RunHistory::conclude(model::RunResult& result, bool strict) {
  if (baseline_) {
    comparison_ = report::compare(*baseline_, baseline_is_, result, report::identity_of(result));
    comparison_->after.labels = labels_;
    report::judge_conditions(*comparison_, conditions_);
    fail_run(result, strict);
    comparison_->after.verdict = result.verdict;
  }
  if (!keep_) return;
  auto id = keep_run(result, source_, labels_);
  if (!id) {
    problems_.push_back(fmt::format("this run was not kept: {}", id.error().message));
    return;
  }
  result.id = std::move(*id);
  if (comparison_) comparison_->after.id = result.id;
}

// What could not be done or was interrupted weighs more than a change.
void RunHistory::fail_run(model::RunResult& result, bool strict) const {
  if (result.verdict != model::Verdict::kPassed) return;
  const auto& conditions = comparison_->conditions;
  const auto fired = std::ranges::find_if(conditions, &report::ConditionVerdict::fired);
  if (fired != conditions.end()) {
    result.verdict = model::Verdict::kFailed;
    result.exit_code = engine::kExitFailed;
    result.reason = fmt::format("--fail-if \"{}\" holds: {}", fired->text, fired->sentence);
    return;
  }
  const auto unjudged =
      std::ranges::find_if(conditions, [](const report::ConditionVerdict& each) { return !each.judged; });
  if (!strict || unjudged == conditions.end()) return;
  result.verdict = model::Verdict::kError;
  result.exit_code = engine::kExitError;
  result.reason = fmt::format("--fail-if \"{}\" could not be judged and --strict makes that an error: {}",
                              unjudged->text, unjudged->sentence);
}

std::string RunHistory::farewell(const model::RunResult& result) const {
  return result.id.empty() ? std::string() : fmt::format("to see this again: muster results show {}", result.id);
}

}  // namespace muster::console
