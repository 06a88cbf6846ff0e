// Merging of workflow results: associative and commutative (save for the order of cores and of `keep: all` values, and
// for rounding in sums of users' metrics), with a result without a name as the neutral element.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include "model/options.h"
#include "model/result.h"

namespace muster::model {
namespace {

// Finds the element with the same key, most often at the same place, or makes one at the end. Null if that would be one
// too many.
template <class T, class Key>
T* same(std::vector<T>& whole, const T& part, std::size_t place, Key&& key, std::size_t limit) {
  if (place < whole.size() && key(whole[place]) == key(part)) return &whole[place];
  const auto found = std::find_if(whole.begin(), whole.end(), [&](const T& each) { return key(each) == key(part); });
  if (found != whole.end()) return &*found;
  return whole.size() < limit ? &whole.emplace_back() : nullptr;
}

// Merges two lists that ascend by a number: equal ones are added, others taken over in order. Costs what `part` holds
// and what `whole` holds from the first number of `part` on, so that adding to the end of a long list is cheap.
template <class T, class Key, class Add>
void merge_ascending(std::vector<T>& whole, std::vector<T> part, Key&& key, Add&& add) {
  if (part.empty()) return;
  const auto first = std::lower_bound(whole.begin(), whole.end(), key(part.front()),
                                      [&](const T& each, const auto& number) { return key(each) < number; });
  std::vector<T> rest(std::move_iterator(first), std::move_iterator(whole.end()));
  whole.erase(first, whole.end());
  auto mine = rest.begin();
  for (T& each : part) {
    for (; mine != rest.end() && key(*mine) < key(each); ++mine) whole.push_back(std::move(*mine));
    if (mine != rest.end() && key(*mine) == key(each)) {
      add(*mine, each);
    } else {
      whole.push_back(std::move(each));
    }
  }
  whole.insert(whole.end(), std::move_iterator(mine), std::move_iterator(rest.end()));
}

template <class T, class Key>
void sort_by(std::vector<T>& list, Key&& key) {
  const auto less = [&](const T& a, const T& b) { return key(a) < key(b); };
  if (!std::is_sorted(list.begin(), list.end(), less)) std::sort(list.begin(), list.end(), less);
}

int rank(WorkflowState state) {
  switch (state) {
    case WorkflowState::kPending:
      return 0;
    case WorkflowState::kCompleted:
      return 1;
    case WorkflowState::kSkipped:
      return 2;
    case WorkflowState::kAborted:
      return 3;
    case WorkflowState::kTimedOut:
      return 4;
    case WorkflowState::kLost:
      return 5;
    case WorkflowState::kFailed:
      return 6;
    case WorkflowState::kRunning:
      return 7;
  }
  return 0;
}

// While any part runs or is still to run, the whole runs; when all are over, the worst end counts and brings its
// reason.
void merge_state(WorkflowResult& whole, const WorkflowResult& part) {
  WorkflowState mine = whole.state;
  WorkflowState other = part.state;
  if (mine != other && mine == WorkflowState::kPending) mine = WorkflowState::kRunning;
  if (mine != other && other == WorkflowState::kPending) other = WorkflowState::kRunning;
  if (rank(other) > rank(mine)) {
    whole.reason = part.reason;
  } else if (rank(other) == rank(mine) && !part.reason.empty()) {
    whole.reason = whole.reason.empty() ? part.reason : std::min(whole.reason, part.reason);
  }
  whole.state = rank(other) > rank(mine) ? other : mine;
}

void merge_samples(std::vector<ErrorSample>& whole, const std::vector<ErrorSample>& part) {
  if (part.empty()) return;
  whole.insert(whole.end(), part.begin(), part.end());
  sort_by(whole, [](const ErrorSample& each) {
    return std::tie(each.error, each.at, each.detail, each.request, each.response);
  });
  std::array<std::size_t, kErrorClasses> kept{};
  std::erase_if(whole, [&](const ErrorSample& each) {
    return ++kept[static_cast<std::size_t>(each.error)] > kMaxSamplesPerClass;
  });
}

void merge_checks(std::vector<CheckResult>& whole, const std::vector<CheckResult>& part) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    CheckResult* mine = same(
        whole, part[i], i, [](const CheckResult& each) -> const std::string& { return each.label; }, kMaxResultDetails);
    if (mine == nullptr) continue;
    mine->label = part[i].label;
    mine->ok += part[i].ok;
    mine->failed += part[i].failed;
  }
}

void merge_seconds(std::vector<StepSecond>& whole, std::vector<StepSecond> part) {
  merge_ascending(
      whole, std::move(part), [](const StepSecond& row) { return row.second; },
      [](StepSecond& mine, const StepSecond& other) {
        mine.ok += other.ok;
        mine.failed += other.failed;
        mine.bytes_in += other.bytes_in;
        mine.bytes_out += other.bytes_out;
        mine.latency.merge(other.latency);
      });
}

void merge_seconds(std::vector<WorkflowSecond>& whole, std::vector<WorkflowSecond> part) {
  merge_ascending(
      whole, std::move(part), [](const WorkflowSecond& row) { return row.second; },
      [](WorkflowSecond& mine, const WorkflowSecond& other) {
        mine.vus += other.vus;
        mine.iterations += other.iterations;
        mine.dropped += other.dropped;
      });
}

void merge_step(StepResult& whole, const StepResult& part) {
  if (whole.name.empty()) {
    whole.name = part.name;
    whole.kind = part.kind;
    whole.role = part.role;
    whole.tags = part.tags;
  }
  whole.ok += part.ok;
  whole.failed += part.failed;
  whole.skipped += part.skipped;
  whole.retried += part.retried;
  whole.connections += part.connections;
  whole.bytes_in += part.bytes_in;
  whole.bytes_out += part.bytes_out;
  for (std::size_t i = 0; i < kErrorClasses; ++i) whole.errors[i] += part.errors[i];
  merge_ascending(
      whole.statuses, part.statuses, [](const auto& pair) { return pair.first; },
      [](auto& mine, const auto& other) { mine.second += other.second; });
  merge_samples(whole.samples, part.samples);
  whole.latency.merge(part.latency);
  whole.service.merge(part.service);
  for (std::size_t i = 0; i < kPhases; ++i) whole.phases[i].merge(part.phases[i]);
  merge_checks(whole.checks, part.checks);
  merge_seconds(whole.series, part.series);
}

}  // namespace

double quantile(const UserMetric& metric, double q) {
  if (metric.count == 0) return 0;
  return std::clamp(metric.values.quantile(q), std::min(metric.min, metric.max), std::max(metric.min, metric.max));
}

double stddev(const UserMetric& metric) {
  return metric.count > 0 ? std::sqrt(std::max(metric.spread, 0.0) / static_cast<double>(metric.count)) : 0;
}

void merge(UserMetric& whole, const UserMetric& part) {
  if (whole.count > 0 && part.count > 0) {
    const auto mine = static_cast<double>(whole.count);
    const auto theirs = static_cast<double>(part.count);
    const double apart = part.sum / theirs - whole.sum / mine;
    whole.spread += apart * apart * (mine * theirs / (mine + theirs));
  }
  whole.spread += part.spread;
  if (part.count > 0) {
    const bool first = whole.count == 0;
    whole.min = first ? part.min : std::min(whole.min, part.min);
    whole.max = first ? part.max : std::max(whole.max, part.max);
    if (first || std::pair(part.last_at, part.last) > std::pair(whole.last_at, whole.last)) {
      whole.last = part.last;
      whole.last_at = part.last_at;
    }
  }
  whole.count += part.count;
  whole.trues += part.trues;
  whole.sum += part.sum;
  whole.values.merge(part.values);
}

namespace {

void merge_metrics(std::vector<UserMetric>& whole, const std::vector<UserMetric>& part) {
  const auto key = [](const UserMetric& each) { return std::tie(each.name, each.type); };
  for (std::size_t i = 0; i < part.size(); ++i) {
    UserMetric* mine = same(whole, part[i], i, key, kMaxResultMetrics);
    if (mine == nullptr) continue;
    mine->name = part[i].name;
    mine->type = part[i].type;
    merge(*mine, part[i]);
  }
  sort_by(whole, key);
}

// Who is turned away once is always turned away, since the list never shrinks: a row is whole as far as the parts are.
void merge_tagged(std::vector<TaggedResult>& whole, const std::vector<TaggedResult>& part, Notes& notes) {
  const auto key = [](const TaggedResult& each) { return std::tie(each.tags, each.step); };
  TaggedResult other;
  other.tags = "other";
  // One place is kept for "other", which may come before the rest.
  bool has_other = std::ranges::count(whole, other.tags, &TaggedResult::tags) > 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    has_other = has_other || part[i].tags == other.tags;
    TaggedResult* mine = same(whole, part[i], i, key, has_other ? kMaxResultTagged : kMaxResultTagged - 1);
    if (mine == nullptr) {
      mine = same(whole, other, 0, key, kMaxResultTagged);
      if (mine == nullptr) continue;
      mine->tags = other.tags;
      has_other = true;
      add_note(notes, kTooManyTags, part[i].ok + part[i].failed);
    } else {
      mine->tags = part[i].tags;
      mine->step = part[i].step;
    }
    mine->ok += part[i].ok;
    mine->failed += part[i].failed;
    mine->latency.merge(part[i].latency);
  }
  sort_by(whole, key);
}

}  // namespace

void add_provided(std::vector<Provided>& whole, const Provided& value) {
  if (value.values.empty()) return;
  const auto key = [](const Provided& each) -> const std::string& { return each.key; };
  Provided* mine = same(whole, value, 0, key, kMaxProvidedKeys);
  if (mine == nullptr) return;
  if (mine->values.empty()) {
    *mine = value;
  } else if (value.keep_all) {
    const auto limit = static_cast<std::size_t>(std::min<std::uint64_t>(value.max, kMaxProvidedValues));
    const std::size_t room = limit > mine->values.size() ? limit - mine->values.size() : 0;
    const auto taken = static_cast<std::ptrdiff_t>(std::min(room, value.values.size()));
    mine->values.insert(mine->values.end(), value.values.begin(), value.values.begin() + taken);
    mine->lamport = std::max(mine->lamport, value.lamport);
  } else {
    const bool later = std::tie(value.lamport, value.values) > std::tie(mine->lamport, mine->values);
    if (later != value.keep_first) *mine = value;
  }
}

void add_note(Notes& notes, std::string_view text, std::uint64_t times) {
  text = text.substr(0, kMaxResultText);
  const auto known = std::find_if(notes.begin(), notes.end(), [&](const auto& note) { return note.first == text; });
  if (known != notes.end()) {
    known->second += times;
  } else if (notes.size() < kMaxResultNotes) {
    notes.emplace_back(text, times);
  }
}

void merge_series(WorkflowResult& whole, WorkflowResult&& part) {
  merge_seconds(whole.series, std::exchange(part.series, {}));
  for (std::size_t i = 0; i < std::min(whole.steps.size(), part.steps.size()); ++i) {
    merge_seconds(whole.steps[i].series, std::exchange(part.steps[i].series, {}));
  }
}

void clear_series(WorkflowResult& result) {
  result.series.clear();
  for (StepResult& step : result.steps) step.series.clear();
}

void merge(WorkflowResult& whole, const WorkflowResult& part) {
  if (part.name.empty()) return;
  if (whole.name.empty()) {
    whole = {};
    whole.name = part.name;
    whole.state = part.state;
    whole.began = part.began;
  }
  merge_state(whole, part);
  whole.open |= part.open;
  whole.scripted |= part.scripted;
  whole.warming_up |= part.warming_up;
  whole.began = std::min(whole.began, part.began);
  whole.shift = std::max(whole.shift, part.shift);
  whole.elapsed = std::max(whole.elapsed, part.elapsed);
  whole.sequence += part.sequence;  // grows whenever that of any part does
  whole.vus += part.vus;
  whole.peak_vus += part.peak_vus;  // the parts follow one shape, so their peaks fall together
  whole.max_vus += part.max_vus;
  whole.arrivals += part.arrivals;
  whole.dropped += part.dropped;
  whole.queued += part.queued;
  whole.iterations += part.iterations;
  whole.failed_iterations += part.failed_iterations;
  whole.interrupted += part.interrupted;
  whole.lateness.merge(part.lateness);
  whole.iteration_time.merge(part.iteration_time);
  const auto step_name = [](const StepResult& each) -> const std::string& { return each.name; };
  for (std::size_t i = 0; i < part.steps.size(); ++i) {
    if (StepResult* mine = same(whole.steps, part.steps[i], i, step_name, kMaxResultSteps)) {
      merge_step(*mine, part.steps[i]);
    }
  }
  merge_metrics(whole.metrics, part.metrics);
  merge_tagged(whole.tagged, part.tagged, whole.notes);
  merge_seconds(whole.series, part.series);
  for (const Provided& value : part.provided) add_provided(whole.provided, value);
  sort_by(whole.provided, [](const Provided& each) -> const std::string& { return each.key; });
  const std::size_t room = kMaxResultCores - std::min(kMaxResultCores, whole.cores.size());
  const auto taken = static_cast<std::ptrdiff_t>(std::min(room, part.cores.size()));
  whole.cores.insert(whole.cores.end(), part.cores.begin(), part.cores.begin() + taken);
  for (const auto& [text, times] : part.notes) add_note(whole.notes, text, times);
  sort_by(whole.notes, [](const auto& note) -> const std::string& { return note.first; });
}

}  // namespace muster::model
