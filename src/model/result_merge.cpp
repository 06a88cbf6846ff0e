// Merging of workflow results: associative and commutative (save for the order of cores and of `keep: all` values, and
// for rounding in sums of users' metrics), with a result without a name as the neutral element.
#include <algorithm>
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

// Merges two lists that ascend by a number: equal ones are added, others taken over in order. Linear in their lengths.
template <class T, class Key, class Add>
void merge_ascending(std::vector<T>& whole, const std::vector<T>& part, Key&& key, Add&& add) {
  std::vector<T> merged;
  merged.reserve(std::max(whole.size(), part.size()));
  auto mine = whole.begin();
  for (const T& each : part) {
    for (; mine != whole.end() && key(*mine) < key(each); ++mine) merged.push_back(std::move(*mine));
    if (mine != whole.end() && key(*mine) == key(each)) {
      add(*mine, each);
    } else {
      merged.push_back(each);
    }
  }
  merged.insert(merged.end(), std::move_iterator(mine), std::move_iterator(whole.end()));
  whole = std::move(merged);
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

void add_second(StepSecond& whole, const StepSecond& part) {
  whole.ok += part.ok;
  whole.failed += part.failed;
  whole.bytes_in += part.bytes_in;
  whole.bytes_out += part.bytes_out;
  whole.latency.merge(part.latency);
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
  merge_ascending(whole.series, part.series, [](const StepSecond& row) { return row.second; }, add_second);
}

void add_metric(UserMetric& whole, const UserMetric& part) {
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

void merge_metrics(std::vector<UserMetric>& whole, const std::vector<UserMetric>& part) {
  const auto key = [](const UserMetric& each) { return std::tie(each.name, each.type); };
  for (std::size_t i = 0; i < part.size(); ++i) {
    UserMetric* mine = same(whole, part[i], i, key, kMaxResultMetrics);
    if (mine == nullptr) continue;
    mine->name = part[i].name;
    mine->type = part[i].type;
    add_metric(*mine, part[i]);
  }
  sort_by(whole, key);
}

void merge_tagged(std::vector<TaggedResult>& whole, const std::vector<TaggedResult>& part) {
  const auto key = [](const TaggedResult& each) -> const std::string& { return each.tags; };
  TaggedResult other;
  other.tags = "other";
  for (std::size_t i = 0; i < part.size(); ++i) {
    // The last place is kept for "other".
    TaggedResult* mine =
        same(whole, part[i], i, key, part[i].tags == other.tags ? kMaxResultTagged : kMaxResultTagged - 1);
    if (mine == nullptr) {
      mine = same(whole, other, 0, key, kMaxResultTagged);
      if (mine == nullptr) continue;
      mine->tags = other.tags;
    } else {
      mine->tags = part[i].tags;
    }
    mine->ok += part[i].ok;
    mine->failed += part[i].failed;
    mine->latency.merge(part[i].latency);
  }
  sort_by(whole, key);
}

void merge_provided(std::vector<Provided>& whole, const std::vector<Provided>& part) {
  const auto key = [](const Provided& each) -> const std::string& { return each.key; };
  for (std::size_t i = 0; i < part.size(); ++i) {
    const Provided& other = part[i];
    if (other.values.empty()) continue;
    Provided* mine = same(whole, other, i, key, kMaxProvidedKeys);
    if (mine == nullptr) continue;
    if (mine->values.empty()) {
      *mine = other;
    } else if (other.keep_all) {
      const auto limit = static_cast<std::size_t>(std::min<std::uint64_t>(other.max, kMaxProvidedValues));
      const std::size_t room = limit > mine->values.size() ? limit - mine->values.size() : 0;
      const auto taken = static_cast<std::ptrdiff_t>(std::min(room, other.values.size()));
      mine->values.insert(mine->values.end(), other.values.begin(), other.values.begin() + taken);
      mine->lamport = std::max(mine->lamport, other.lamport);
    } else {
      const bool later = std::tie(other.lamport, other.values) > std::tie(mine->lamport, mine->values);
      if (later != other.keep_first) *mine = other;
    }
  }
  sort_by(whole, key);
}

void merge_notes(std::vector<std::pair<std::string, std::uint64_t>>& whole,
                 const std::vector<std::pair<std::string, std::uint64_t>>& part) {
  const auto key = [](const auto& note) -> const std::string& { return note.first; };
  for (std::size_t i = 0; i < part.size(); ++i) {
    auto* mine = same(whole, part[i], i, key, kMaxResultNotes);
    if (mine == nullptr) continue;
    mine->first = part[i].first;
    mine->second += part[i].second;
  }
  sort_by(whole, key);
}

void merge_series(std::vector<WorkflowSecond>& whole, const std::vector<WorkflowSecond>& part) {
  merge_ascending(
      whole, part, [](const WorkflowSecond& row) { return row.second; },
      [](WorkflowSecond& mine, const WorkflowSecond& other) {
        mine.vus += other.vus;
        mine.iterations += other.iterations;
        mine.dropped += other.dropped;
      });
}

}  // namespace

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
  whole.warming_up |= part.warming_up;
  whole.began = std::min(whole.began, part.began);
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
  merge_tagged(whole.tagged, part.tagged);
  merge_series(whole.series, part.series);
  merge_provided(whole.provided, part.provided);
  const std::size_t room = kMaxResultCores - std::min(kMaxResultCores, whole.cores.size());
  const auto taken = static_cast<std::ptrdiff_t>(std::min(room, part.cores.size()));
  whole.cores.insert(whole.cores.end(), part.cores.begin(), part.cores.begin() + taken);
  merge_notes(whole.notes, part.notes);
}

}  // namespace muster::model
