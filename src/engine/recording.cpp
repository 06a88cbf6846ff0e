#include "engine/recording.h"

#include <algorithm>

#include "engine/options.h"

namespace muster::engine {
namespace {

template <class Point>
Point& point_at(std::vector<Point>& series, std::uint32_t second) {
  const auto place = std::lower_bound(series.begin(), series.end(), second,
                                      [](const Point& point, std::uint32_t value) { return point.second < value; });
  if (place != series.end() && place->second == second) return *place;
  Point point;
  point.second = second;
  return *series.insert(place, std::move(point));
}

// Moves the points before `second` out of `from`.
template <class Point>
void take_before(std::vector<Point>& from, std::vector<Point>& into, std::uint32_t second) {
  const auto end = std::find_if(from.begin(), from.end(), [&](const Point& point) { return point.second >= second; });
  into.assign(std::make_move_iterator(from.begin()), std::make_move_iterator(end));
  from.erase(from.begin(), end);
}

void add_samples(std::vector<model::ErrorSample>& into, const std::vector<model::ErrorSample>& samples) {
  for (const model::ErrorSample& sample : samples) {
    const auto same = std::count_if(into.begin(), into.end(),
                                    [&](const model::ErrorSample& each) { return each.error == sample.error; });
    if (static_cast<std::size_t>(same) < model::kMaxSamplesPerClass) into.push_back(sample);
  }
}

void add_note(std::vector<std::pair<std::string, std::uint64_t>>& notes, std::string_view text, std::uint64_t times) {
  for (auto& [known, count] : notes) {
    if (known == text) {
      count += times;
      return;
    }
  }
  if (notes.size() < kMaxNotes) notes.emplace_back(text, times);
}

}  // namespace

Recording::Recording(const Program& program) : steps(program.steps.size()), metrics(program.metrics.size()) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const std::string& label : program.steps[i].checks)
      steps[i].checks.push_back({.label = label, .ok = 0, .failed = 0});
  }
}

void Recording::clear() {
  for (StepRecording& step : steps) {
    step.ok = step.failed = step.skipped = step.retried = step.connections = step.bytes_in = step.bytes_out = 0;
    step.latency.clear();
    step.service.clear();
    for (CoarseRecorder& phase : step.phases) phase.clear();
    step.errors.fill(0);
    step.statuses.fill(0);
    for (model::CheckResult& check : step.checks) check.ok = check.failed = 0;
    step.samples.clear();
  }
  for (MetricRecording& metric : metrics) {
    metric.count = metric.trues = 0;
    metric.sum = metric.min = metric.max = 0;
    metric.values.clear();
  }
  for (const auto& tag : tags) {
    tag->ok = tag->failed = 0;
    tag->latency.clear();
  }
  lateness.clear();
  iteration_time.clear();
  arrivals = dropped = queued = iterations = failed_iterations = interrupted = peak_vus = 0;
  provided.clear();
  notes.clear();
}

void Recording::note(std::string_view text, std::uint64_t times) {
  add_note(notes, text, times);
}

void add_provided(std::vector<model::Provided>& into, const model::Provided& value) {
  for (model::Provided& each : into) {
    if (each.key != value.key) continue;
    if (each.keep_all) {
      for (const std::string& text : value.values) {
        if (each.values.size() < each.max) each.values.push_back(text);
      }
    } else if (each.keep_first ? value.lamport < each.lamport : value.lamport >= each.lamport) {
      each = value;
    }
    return;
  }
  into.push_back(value);
}

Collector::Collector(const Program& program, std::size_t cores) : core_vus_(cores) {
  totals_.name = program.workflow;
  totals_.state = model::WorkflowState::kRunning;
  totals_.open = program.open;
  totals_.max_vus = program.load.max_vus;
  totals_.cores.resize(cores);
  for (const StepInfo& info : program.steps) {
    model::StepResult step;
    step.name = info.name;
    step.kind = info.kind;
    step.role = info.role;
    step.tags = info.tags;
    for (const std::string& label : info.checks) step.checks.push_back({.label = label, .ok = 0, .failed = 0});
    totals_.steps.push_back(std::move(step));
  }
  for (const MetricInfo& info : program.metrics) {
    model::UserMetric metric;
    metric.name = info.name;
    metric.type = info.type;
    totals_.metrics.push_back(std::move(metric));
  }
  fresh_series_ = names_only();
}

model::WorkflowResult Collector::names_only() const {
  model::WorkflowResult names;
  names.name = totals_.name;
  for (const model::StepResult& step : totals_.steps) {
    model::StepResult bare;
    bare.name = step.name;
    names.steps.push_back(std::move(bare));
  }
  return names;
}

void Collector::add(std::size_t core, const Recording& recording) {
  core_vus_[core] = recording.vus;
  totals_.vus = 0;
  for (const std::uint64_t vus : core_vus_) totals_.vus += vus;
  totals_.cores[core] = recording.use;
  totals_.warming_up = !recording.counted;
  ++totals_.sequence;
  for (const auto& [text, times] : recording.notes) add_note(totals_.notes, text, times);
  for (const model::Provided& value : recording.provided) add_provided(totals_.provided, value);
  if (!recording.counted) return;

  totals_.elapsed = std::max(totals_.elapsed, recording.elapsed);
  for (std::size_t i = 0; i < totals_.steps.size(); ++i) add_step(totals_.steps[i], recording.steps[i]);
  add_metrics(recording);
  add_tags(recording);
  totals_.lateness.add(recording.lateness);
  totals_.iteration_time.add(recording.iteration_time);
  totals_.arrivals += recording.arrivals;
  totals_.dropped += recording.dropped;
  totals_.queued += recording.queued;
  totals_.iterations += recording.iterations;
  totals_.failed_iterations += recording.failed_iterations;
  totals_.interrupted += recording.interrupted;
  add_second(recording);

  auto& peaks = second_vus_;
  auto entry =
      std::find_if(peaks.begin(), peaks.end(), [&](const auto& each) { return each.first == recording.second; });
  if (entry == peaks.end()) {
    peaks.emplace_back(recording.second, std::vector<std::uint64_t>(core_vus_.size()));
    entry = peaks.end() - 1;
  }
  entry->second[core] = std::max(entry->second[core], recording.peak_vus);
  std::uint64_t at_once = 0;
  for (const std::uint64_t peak : entry->second) at_once += peak;
  totals_.peak_vus = std::max(totals_.peak_vus, at_once);
  point_at(fresh_series_.series, recording.second).vus = static_cast<std::uint32_t>(at_once);
}

void Collector::add_step(model::StepResult& into, const StepRecording& recording) {
  into.ok += recording.ok;
  into.failed += recording.failed;
  into.skipped += recording.skipped;
  into.retried += recording.retried;
  into.connections += recording.connections;
  into.bytes_in += recording.bytes_in;
  into.bytes_out += recording.bytes_out;
  into.latency.add(recording.latency);
  into.service.add(recording.service);
  for (std::size_t i = 0; i < model::kPhases; ++i) into.phases[i].add(recording.phases[i]);
  for (std::size_t i = 0; i < model::kErrorClasses; ++i) into.errors[i] += recording.errors[i];
  if (recording.ok + recording.failed > 0) {
    for (std::uint32_t status = 0; status < recording.statuses.size(); ++status) {
      if (recording.statuses[status] == 0) continue;
      auto place = std::lower_bound(into.statuses.begin(), into.statuses.end(), std::pair(status, std::uint64_t{0}));
      if (place == into.statuses.end() || place->first != status) place = into.statuses.insert(place, {status, 0});
      place->second += recording.statuses[status];
    }
  }
  for (std::size_t i = 0; i < into.checks.size(); ++i) {
    into.checks[i].ok += recording.checks[i].ok;
    into.checks[i].failed += recording.checks[i].failed;
  }
  add_samples(into.samples, recording.samples);
}

void Collector::add_second(const Recording& recording) {
  model::WorkflowSecond& second = point_at(fresh_series_.series, recording.second);
  second.iterations += recording.iterations;
  second.dropped += recording.dropped;
  for (std::size_t i = 0; i < recording.steps.size(); ++i) {
    const StepRecording& step = recording.steps[i];
    if (step.ok + step.failed == 0) continue;
    model::StepSecond& point = point_at(fresh_series_.steps[i].series, recording.second);
    point.ok += step.ok;
    point.failed += step.failed;
    point.bytes_in += step.bytes_in;
    point.bytes_out += step.bytes_out;
    point.latency.add(step.latency);
  }
}

void Collector::add_tags(const Recording& recording) {
  for (const auto& tag : recording.tags) {
    if (tag->ok + tag->failed == 0) continue;
    auto place = std::find_if(totals_.tagged.begin(), totals_.tagged.end(),
                              [&](const model::TaggedResult& each) { return each.tags == tag->tags; });
    if (place == totals_.tagged.end()) {
      const bool full = totals_.tagged.size() >= kMaxTagSets && tag->tags != "other";
      const std::string_view name = full ? std::string_view("other") : std::string_view(tag->tags);
      place = std::find_if(totals_.tagged.begin(), totals_.tagged.end(),
                           [&](const model::TaggedResult& each) { return each.tags == name; });
      if (place == totals_.tagged.end()) {
        totals_.tagged.emplace_back();
        place = totals_.tagged.end() - 1;
        place->tags = name;
      }
    }
    place->ok += tag->ok;
    place->failed += tag->failed;
    place->latency.add(tag->latency);
  }
}

void Collector::add_metrics(const Recording& recording) {
  for (std::size_t i = 0; i < totals_.metrics.size(); ++i) {
    const MetricRecording& from = recording.metrics[i];
    model::UserMetric& into = totals_.metrics[i];
    if (from.count == 0) continue;
    into.min = into.count == 0 ? from.min : std::min(into.min, from.min);
    into.max = into.count == 0 ? from.max : std::max(into.max, from.max);
    into.count += from.count;
    into.trues += from.trues;
    into.sum += from.sum;
    if (from.last_at >= into.last_at) {
      into.last = from.last;
      into.last_at = from.last_at;
    }
    into.values.add(from.values);
  }
}

model::WorkflowResult Collector::take_series(std::uint32_t second) {
  model::WorkflowResult taken = names_only();
  take_before(fresh_series_.series, taken.series, second);
  for (std::size_t i = 0; i < taken.steps.size(); ++i) {
    take_before(fresh_series_.steps[i].series, taken.steps[i].series, second);
  }
  std::erase_if(second_vus_, [&](const auto& each) { return each.first < second; });
  return taken;
}

}  // namespace muster::engine
