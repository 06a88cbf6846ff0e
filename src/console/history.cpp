#include "console/history.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <system_error>

#include "base/characters.h"
#include "base/closest.h"
#include "base/escapes.h"
#include "report/totals.h"
#include "store/data_folder.h"
#include "store/run_id.h"

namespace muster::console {
namespace {

constexpr std::string_view kLatest = "latest";

using Found = std::expected<store::RunRecord, Refusal>;

bool label_character(char c) {
  return base::is_letter_or_digit(c) || c == '.' || c == '-' || c == '_';
}

// How many before the latest; nothing if `reference` is no such thing.
std::optional<std::size_t> steps_back(std::string_view reference) {
  if (!reference.starts_with(kLatest)) return std::nullopt;
  reference.remove_prefix(kLatest.size());
  if (reference.empty()) return 0;
  std::size_t back = 0;
  if (reference.front() != '~') return std::nullopt;
  const char* end = reference.data() + reference.size();
  const auto [stop, error] = std::from_chars(reference.data() + 1, end, back);
  if (error != std::errc() || stop != end || back > store::kMaxListed) return std::nullopt;
  return back;
}

Found find_latest(store::RunStore& history, std::size_t back, std::string_view job) {
  // What is compared with should have come to its end.
  const bool completed = !job.empty();
  auto found = history.list({.job = std::string(job), .before = {}, .skip = back, .limit = 1, .completed = completed});
  if (!found) return unreadable(found.error().message);
  if (!found->empty()) return std::move(found->front());
  const std::string of = completed ? fmt::format(" of '{}' that was completed", job) : "";
  if (back == 0) return refuse(fmt::format("no run{} is kept yet; 'muster run' keeps every run", of));
  return refuse(fmt::format("there are not that many runs{}; 'muster results' lists those that are kept",
                            completed ? fmt::format(" of '{}' that were completed", job) : ""));
}

Found not_found(store::RunStore& history, std::string_view reference) {
  auto all = history.list({});
  if (!all) return unreadable(all.error().message);
  std::vector<std::string> names = {std::string(kLatest)};
  for (const store::RunRecord& record : *all) names.push_back(record.id);
  return refuse(fmt::format("there is no run '{}'{}; 'muster results' lists those that are kept",
                            base::one_line(reference), base::did_you_mean(reference, names)));
}

}  // namespace

base::Expected<std::unique_ptr<store::RunStore>> open_history(store::Purpose purpose) {
  // Read once, on the main thread, before anything could change the environment.
  const auto path =
      store::history_file([](const char* name) { return std::getenv(name); });  // NOLINT(concurrency-mt-unsafe)
  if (!path) return std::unexpected(path.error());
  struct stat found{};
  if (purpose == store::Purpose::kRead && ::stat(path->c_str(), &found) != 0) {
    if (errno == ENOENT) return nullptr;
    return base::fail(fmt::format("the history '{}' cannot be opened: {}; name another folder by MUSTER_DATA", *path,
                                  std::generic_category().message(errno)));
  }
  return store::open_sqlite_run_store(*path, purpose);
}

base::Expected<store::Labels> parse_labels(const std::vector<std::string>& written) {
  store::Labels labels;
  for (const std::string& each : written) {
    const std::size_t equals = each.find('=');
    const std::string name = each.substr(0, equals);
    if (equals == std::string::npos || name.empty() || !std::ranges::all_of(name, label_character)) {
      return base::fail(fmt::format(
          "--label: expected NAME=VALUE such as branch=main, the name of letters, digits, '.', '-' and '_'; found '{}'",
          each));
    }
    if (name.size() > store::kMaxLabelName || each.size() - equals - 1 > store::kMaxLabelValue) {
      return base::fail(fmt::format("--label {}: a name may have {} bytes and a value {}", name, store::kMaxLabelName,
                                    store::kMaxLabelValue));
    }
    if (std::ranges::find(labels, name, [](const auto& label) { return label.first; }) != labels.end()) {
      return base::fail(fmt::format("--label {}: it is given twice", name));
    }
    labels.emplace_back(name, each.substr(equals + 1));
  }
  if (labels.size() > store::kMaxLabels) {
    return base::fail(fmt::format("--label: at most {} are kept, found {}", store::kMaxLabels, labels.size()));
  }
  std::ranges::sort(labels);
  return labels;
}

store::RunRecord record_of(const model::RunResult& result, store::Labels labels) {
  const report::Totals sum = report::totals(result);
  store::RunRecord record;
  record.started = result.started;
  record.elapsed = result.elapsed;
  record.job = result.job;
  record.version = result.version;
  record.labels = std::move(labels);
  record.verdict = result.verdict;
  record.exit_code = result.exit_code;
  record.requests = sum.requests;
  record.failed = sum.failed;
  record.rate = sum.rate();
  record.p50 = sum.latency.quantile(0.50);
  record.p95 = sum.latency.quantile(0.95);
  record.p99 = sum.latency.quantile(0.99);
  return record;
}

base::Expected<std::string> keep_run(const model::RunResult& result, std::string_view source,
                                     const store::Labels& labels) {
  auto history = open_history(store::Purpose::kWrite);
  if (!history) return std::unexpected(history.error());
  auto id = (*history)->add(record_of(result, labels), source, result);
  if (!id) return id;
  // The run is kept; if the oldest cannot go now, they go with the next one.
  static_cast<void>((*history)->prune({}));
  return id;
}

bool is_latest(std::string_view reference) {
  return steps_back(reference).has_value();
}

std::expected<store::RunRecord, Refusal> find_run(store::RunStore& history, std::string_view reference,
                                                  std::string_view job) {
  if (const auto back = steps_back(reference)) return find_latest(history, *back, job);
  const std::string id = store::normalised_id(reference);
  if (id.empty()) return refuse("a run is named by its id; 'muster results' lists those that are kept");
  constexpr std::size_t kShown = 5;
  auto found = history.find(id, kShown);
  if (!found) return unreadable(found.error().message);
  if (found->size() == 1) return std::move(found->front());
  const auto exact = std::ranges::find(*found, id, &store::RunRecord::id);
  if (exact != found->end()) return std::move(*exact);
  if (found->empty()) return not_found(history, reference);
  std::vector<std::string> names;
  for (const store::RunRecord& record : *found) names.push_back(record.id);
  return refuse(fmt::format("'{}' fits several runs: {}{}; type more of it", reference, fmt::join(names, ", "),
                            names.size() == kShown ? ", …" : ""));
}

}  // namespace muster::console
