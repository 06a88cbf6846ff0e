#include "engine/recording.h"

#include <algorithm>
#include <numeric>

namespace muster::engine {
namespace {

// Moves the points before `second` out of `from`.
template <class Point>
void take_before(std::vector<Point>& from, std::vector<Point>& into, std::uint32_t second) {
  const auto end = std::find_if(from.begin(), from.end(), [&](const Point& point) { return point.second >= second; });
  into.assign(std::make_move_iterator(from.begin()), std::make_move_iterator(end));
  from.erase(from.begin(), end);
}

// A result that has the names of everything in `program` and counts nothing.
model::WorkflowResult blank(const Program& program) {
  model::WorkflowResult made;
  made.name = program.workflow;
  made.state = model::WorkflowState::kRunning;
  made.open = program.open;
  made.scripted = program.script != nullptr;
  for (const StepInfo& info : program.steps) {
    model::StepResult& step = made.steps.emplace_back();
    step.name = info.name;
    step.kind = info.kind;
    step.role = info.role;
    step.tags = info.tags;
    for (const std::string& label : info.checks) step.checks.push_back({.label = label, .ok = 0, .failed = 0});
  }
  for (const MetricInfo& info : program.metrics) {
    model::UserMetric& metric = made.metrics.emplace_back();
    metric.name = info.name;
    metric.type = info.type;
  }
  return made;
}

void fill(model::StepResult& step, const StepRecording& recording) {
  step.ok = recording.ok;
  step.failed = recording.failed;
  step.skipped = recording.skipped;
  step.retried = recording.retried;
  step.connections = recording.connections;
  step.bytes_in = recording.bytes_in;
  step.bytes_out = recording.bytes_out;
  step.errors = recording.errors;
  step.samples = recording.samples;
  step.checks = recording.checks;
  step.latency.add(recording.latency);
  step.service.add(recording.service);
  for (std::size_t i = 0; i < model::kPhases; ++i) step.phases[i].add(recording.phases[i]);
  if (recording.ok + recording.failed == 0) return;
  for (std::uint32_t status = 0; status < recording.statuses.size(); ++status) {
    if (recording.statuses[status] != 0) step.statuses.emplace_back(status, recording.statuses[status]);
  }
}

void fill(model::UserMetric& metric, const MetricRecording& recording) {
  metric.count = recording.count;
  metric.trues = recording.trues;
  metric.sum = recording.sum;
  metric.last = recording.last;
  metric.last_at = recording.last_at;
  metric.min = recording.min;
  metric.max = recording.max;
  metric.spread = recording.spread;
  metric.values.add(recording.values);
}

void add_tagged(model::WorkflowResult& result, const TagRecording& recording) {
  if (recording.ok + recording.failed == 0) return;
  model::TaggedResult& tagged = result.tagged.emplace_back();
  tagged.tags = recording.tags;
  if (recording.tags != kOtherTags) tagged.step = result.steps[recording.step].name;
  tagged.ok = recording.ok;
  tagged.failed = recording.failed;
  tagged.latency.add(recording.latency);
}

bool is_empty(const Recording& recording) {
  return recording.vus + recording.iterations + recording.dropped == 0 &&
         std::ranges::all_of(recording.steps, [](const StepRecording& step) { return step.ok + step.failed == 0; });
}

// Whether time that ends at `end` holds no more of a second than serving the last timer takes.
bool ends_at(std::uint32_t second, base::Duration end) {
  return end < std::chrono::seconds(second) + std::chrono::milliseconds(10);
}

// The second that the recording lies in. How many VUs there were is known only from all cores together.
model::WorkflowResult series_of(const Recording& recording) {
  model::WorkflowResult made;
  made.series.push_back(
      {.second = recording.second, .vus = 0, .iterations = recording.iterations, .dropped = recording.dropped});
  made.steps.resize(recording.steps.size());
  for (std::size_t i = 0; i < recording.steps.size(); ++i) {
    const StepRecording& step = recording.steps[i];
    if (step.ok + step.failed == 0) continue;
    made.steps[i].series.push_back({.second = recording.second,
                                    .ok = step.ok,
                                    .failed = step.failed,
                                    .bytes_in = step.bytes_in,
                                    .bytes_out = step.bytes_out,
                                    .latency = metrics::coarse(step.latency)});
  }
  return made;
}

// What one core recorded, as a result of its own, without series; VUs and the use of cores are the collector's to add.
model::WorkflowResult result_of(const Program& program, const Recording& recording) {
  model::WorkflowResult made = blank(program);
  made.sequence = 1;
  made.notes = recording.notes;
  made.provided = recording.provided;
  if (!recording.counted) return made;
  made.elapsed = recording.elapsed;
  made.arrivals = recording.arrivals;
  made.dropped = recording.dropped;
  made.queued = recording.queued;
  made.iterations = recording.iterations;
  made.failed_iterations = recording.failed_iterations;
  made.interrupted = recording.interrupted;
  made.lateness.add(recording.lateness);
  made.iteration_time.add(recording.iteration_time);
  for (std::size_t i = 0; i < recording.steps.size(); ++i) fill(made.steps[i], recording.steps[i]);
  for (std::size_t i = 0; i < recording.metrics.size(); ++i) fill(made.metrics[i], recording.metrics[i]);
  for (const auto& tag : recording.tags) {
    if (tag != nullptr) add_tagged(made, *tag);
  }
  return made;
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
    metric.sum = metric.min = metric.max = metric.mean = metric.spread = 0;
    metric.values.clear();
  }
  for (const auto& tag : tags) {
    if (tag == nullptr) continue;
    tag->ok = tag->failed = 0;
    tag->latency.clear();
  }
  lateness.clear();
  iteration_time.clear();
  arrivals = dropped = queued = iterations = failed_iterations = interrupted = peak_vus = 0;
  provided.clear();
  notes.clear();
  failure.clear();
}

TagRecording& Recording::tag_row(std::size_t place, std::uint32_t step, std::string_view text) {
  if (place >= tags.size()) tags.resize(place + 1);
  std::unique_ptr<TagRecording>& row = tags[place];
  if (row == nullptr) {
    row = std::make_unique<TagRecording>();
    row->step = step;
    row->tags = text;
  }
  return *row;
}

void Recording::note(std::string_view text, std::uint64_t times) {
  model::add_note(notes, text, times);
}

Collector::Collector(const Program& program, std::size_t cores)
    : program_(program), totals_(blank(program)), core_vus_(cores), told_until_(cores) {
  totals_.max_vus = program.load.max_vus;
  totals_.cores.resize(cores);
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
  model::WorkflowResult part = result_of(program_, recording);
  if (recording.counted) totals_.began = std::max(totals_.began, recording.began);
  part.began = totals_.began;
  model::merge(totals_, part);
  if (recording.counted) {
    told_until_[core] = static_cast<std::uint32_t>((recording.began + recording.use.elapsed) / std::chrono::seconds(1));
  }
  const bool tells =
      recording.counted && !(is_empty(recording) && ends_at(recording.second, recording.began + recording.elapsed));
  if (tells) model::merge_series(fresh_series_, series_of(recording));
  totals_.warming_up = !recording.counted;
  totals_.cores[core] = recording.use;
  count_vus(core, recording);
}

void Collector::count_vus(std::size_t core, const Recording& recording) {
  core_vus_[core] = recording.vus;
  totals_.vus = std::accumulate(core_vus_.begin(), core_vus_.end(), std::uint64_t{0});
  if (!recording.counted) return;
  auto entry = std::ranges::find(second_vus_, recording.second, [](const auto& each) { return each.first; });
  if (entry == second_vus_.end()) {
    second_vus_.emplace_back(recording.second, std::vector<std::uint64_t>(core_vus_.size()));
    entry = second_vus_.end() - 1;
  }
  std::uint64_t& peak = entry->second[core];
  peak = std::max(peak, recording.peak_vus);
  const std::uint64_t at_once = std::accumulate(entry->second.begin(), entry->second.end(), std::uint64_t{0});
  totals_.peak_vus = std::max(totals_.peak_vus, at_once);
  const auto point =
      std::ranges::lower_bound(fresh_series_.series, recording.second, {}, &model::WorkflowSecond::second);
  if (point == fresh_series_.series.end() || point->second != recording.second) return;
  point->vus = static_cast<std::uint32_t>(at_once);
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
