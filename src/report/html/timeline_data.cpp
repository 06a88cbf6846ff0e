#include "report/html/timeline_data.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "model/window_words.h"
#include "report/html/options.h"
#include "report/text_layout.h"
#include "report/totals.h"

namespace muster::report::html {
namespace {

using Layout = metrics::CoarseHistogram::Layout;

constexpr std::size_t kRows = std::size_t{Layout::kTopBit} * 4;

// The row of the heat map that a bucket falls into: rows are of equal height on a logarithmic axis, buckets are not.
std::size_t row_of(std::size_t bucket) {
  const auto middle = static_cast<double>(std::max<std::uint64_t>(Layout::middle(bucket), 1));
  return std::min(static_cast<std::size_t>(4 * std::log2(middle)), kRows - 1);
}

void put_number(std::string& out, std::uint64_t number) {
  while (number >= 0x80) {
    out += static_cast<char>(number | 0x80);
    number >>= 7;
  }
  out += static_cast<char>(number);
}

// Small differences of either sign take few bytes: 0, -1, 1, -2, … become 0, 1, 2, 3, …
void put_difference(std::string& out, std::uint64_t before, std::uint64_t now) {
  const auto difference = static_cast<std::int64_t>(now - before);
  put_number(out, (static_cast<std::uint64_t>(difference) << 1) ^ static_cast<std::uint64_t>(difference >> 63));
}

// Gap and count of each entry that is not 0.
template <class Counts>
void put_sparse(std::string& out, const Counts& counts) {
  put_number(out,
             static_cast<std::uint64_t>(std::ranges::count_if(counts, [](std::uint64_t each) { return each > 0; })));
  std::size_t next = 0;
  for (std::size_t i = 0; i != counts.size(); ++i) {
    if (counts[i] == 0) continue;
    put_number(out, i - next);
    put_number(out, counts[i]);
    next = i + 1;
  }
}

// The latencies of one point, dense: adding to it allocates nothing.
class LatencyCounts {
 public:
  void clear() {
    if (total_ > 0) std::fill(counts_.begin() + first(), counts_.begin() + last() + 1, std::uint64_t{0});
    low_ = Layout::kBuckets;
    high_ = 0;
    total_ = 0;
  }

  void add(const metrics::CoarseHistogram& histogram) {
    if (histogram.empty()) return;
    for (const metrics::Bucket& bucket : histogram.buckets()) counts_[bucket.index] += bucket.count;
    low_ = std::min<std::size_t>(low_, histogram.buckets().front().index);
    high_ = std::max<std::size_t>(high_, histogram.buckets().back().index);
    total_ += histogram.count();
  }

  // The bucket of the nearest rank plus 1; 0 without samples. `q` in (0, 1].
  std::uint64_t quantile(double q) const {
    if (total_ == 0) return 0;
    const double exact = std::ceil(q * static_cast<double>(total_) - 1e-9);
    const std::uint64_t rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(exact), 1, total_);
    std::uint64_t seen = 0;
    for (std::size_t i = low_; i <= high_; ++i) {
      seen += counts_[i];
      if (seen >= rank) return i + 1;
    }
    return high_ + 1;
  }

  void add_to(std::array<std::uint64_t, kRows>& rows) const {
    for (std::size_t i = low_; total_ > 0 && i <= high_; ++i) {
      if (counts_[i] > 0) rows[row_of(i)] += counts_[i];
    }
  }

 private:
  std::ptrdiff_t first() const { return static_cast<std::ptrdiff_t>(low_); }
  std::ptrdiff_t last() const { return static_cast<std::ptrdiff_t>(high_); }

  std::array<std::uint64_t, Layout::kBuckets> counts_{};
  std::size_t low_ = Layout::kBuckets;
  std::size_t high_ = 0;
  std::uint64_t total_ = 0;
};

// Reads a series from its beginning, a stretch of seconds at a time.
template <class Second>
class Cursor {
 public:
  explicit Cursor(const std::vector<Second>& series) : series_(&series) {}

  template <class Fn>
  void read_until(std::uint64_t end, Fn&& fn) {
    while (at_ < series_->size() && (*series_)[at_].second < end) fn((*series_)[at_++]);
  }

 private:
  const std::vector<Second>* series_;
  std::size_t at_ = 0;
};

struct Point {
  std::array<std::uint64_t, 8> values{};  // in the order of Scope::bytes
};

// What a scope is the sum of.
struct Parts {
  std::vector<const model::StepResult*> steps;
  std::vector<const model::WorkflowResult*> workflows;  // none for a step
};

class Encoder {
 public:
  Encoder(const Parts& parts, std::uint64_t begin) : parts_(parts), begin_(begin) {
    for (const model::StepResult* step : parts.steps) steps_.emplace_back(step->series);
    for (const model::WorkflowResult* workflow : parts.workflows) workflows_.emplace_back(workflow->series);
    groups_ = ran_together(parts.workflows);
  }

  void encode(Scope& scope) {
    std::vector<Point> points(scope.points);
    std::string heat;
    const std::uint64_t per_column = scope.heat_width / scope.width;
    std::array<std::uint64_t, kRows> rows{};
    for (std::size_t i = 0; i != points.size(); ++i) {
      read_point(points[i], begin_ + (i + 1) * scope.width);
      latency_.add_to(rows);
      if ((i + 1) % per_column == 0 || i + 1 == points.size()) {
        put_sparse(heat, rows);
        rows.fill(0);
      }
    }
    const std::size_t columns = scope.kind == Scope::Kind::kStep ? 6 : 8;
    for (std::size_t column = 0; column != columns; ++column) {
      std::uint64_t before = 0;
      for (const Point& point : points) {
        put_difference(scope.bytes, before, point.values[column]);
        before = point.values[column];
      }
    }
    scope.bytes += heat;
    put_distribution(scope.bytes, &model::StepResult::latency);
    put_distribution(scope.bytes, &model::StepResult::service);
  }

 private:
  void read_point(Point& point, std::uint64_t end) {
    auto& [requests, failed, p50, p95, p99, max, vus, dropped] = point.values;
    latency_.clear();
    for (auto& cursor : steps_) {
      cursor.read_until(end, [&](const model::StepSecond& second) {
        requests += second.ok + second.failed;
        failed += second.failed;
        latency_.add(second.latency);
      });
    }
    p50 = latency_.quantile(0.50);
    p95 = latency_.quantile(0.95);
    p99 = latency_.quantile(0.99);
    max = latency_.quantile(1.0);
    // The most at once: workflows that ran one after the other within a second or a point do not add up.
    std::map<std::pair<std::size_t, std::uint32_t>, std::uint64_t> active;
    for (std::size_t i = 0; i != workflows_.size(); ++i) {
      workflows_[i].read_until(end, [&](const model::WorkflowSecond& second) {
        active[{groups_[i], second.second}] += second.vus;
        dropped += second.dropped;
      });
    }
    for (const auto& [second, count] : active) vus = std::max(vus, count);
  }

  void put_distribution(std::string& out, metrics::Histogram model::StepResult::* histogram) const {
    std::vector<std::uint64_t> counts(Layout::kBuckets);
    for (const model::StepResult* step : parts_.steps) {
      (step->*histogram).for_each([&](base::Duration lower, base::Duration, std::uint64_t count) {
        counts[Layout::index(static_cast<std::uint64_t>(lower.count()))] += count;
      });
    }
    put_sparse(out, counts);
  }

  const Parts& parts_;
  std::uint64_t begin_;
  std::vector<Cursor<model::StepSecond>> steps_;
  std::vector<Cursor<model::WorkflowSecond>> workflows_;
  std::vector<std::size_t> groups_;  // as workflows_
  LatencyCounts latency_;
};

std::uint64_t divided_up(std::uint64_t number, std::uint64_t by) {
  return number / by + (number % by != 0 ? 1 : 0);
}

void set_grid(Scope& scope, std::uint64_t length, std::size_t most_points, std::size_t most_columns) {
  scope.width = divided_up(length, most_points);
  scope.points = divided_up(length, scope.width);
  scope.heat_width = scope.width * divided_up(scope.points, most_columns);
  scope.heat_columns = divided_up(length, scope.heat_width);
}

void set_extent(TimelineData& data, const model::RunResult& run) {
  std::uint64_t begin = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t end = 0;
  const auto include = [&](const auto& series) {
    if (series.empty()) return;
    begin = std::min<std::uint64_t>(begin, series.front().second);
    end = std::max<std::uint64_t>(end, std::uint64_t{series.back().second} + 1);
  };
  for (const model::WorkflowResult& workflow : run.workflows) {
    include(workflow.series);
    for (const model::StepResult& step : workflow.steps) include(step.series);
  }
  data.begin = begin < end ? begin : 0;
  data.end = std::max(end, data.begin + 1);
}

void set_counted(Scope& scope, const model::WorkflowResult& workflow) {
  scope.from = base::seconds(workflow.began);
  scope.until = base::seconds(workflow.began + workflow.elapsed);
  scope.open = workflow.open;
}

bool charted(const model::StepResult& step) {
  return shown(step) && !step.latency.empty();
}

Parts parts_of(const model::WorkflowResult& workflow) {
  Parts parts;
  parts.workflows.push_back(&workflow);
  for (const model::StepResult& step : workflow.steps) {
    if (step.role == model::StepRole::kTest) parts.steps.push_back(&step);
  }
  return parts;
}

void add_run(TimelineData& data, const model::RunResult& run) {
  Scope scope;
  Parts parts;
  for (const model::WorkflowResult& workflow : run.workflows) {
    Parts own = parts_of(workflow);
    parts.workflows.push_back(&workflow);
    parts.steps.insert(parts.steps.end(), own.steps.begin(), own.steps.end());
    scope.open = scope.open || workflow.open;
  }
  const CountedStretch counted = counted_stretch(run);
  scope.from = base::seconds(counted.begin);
  scope.until = base::seconds(counted.end);
  set_grid(scope, data.end - data.begin, kMaxPoints, kMaxHeatColumns);
  Encoder(parts, data.begin).encode(scope);
  data.scopes.push_back(std::move(scope));
}

void add_workflow(TimelineData& data, const model::RunResult& run, std::size_t index) {
  const model::WorkflowResult& workflow = run.workflows[index];
  Scope scope;
  scope.kind = Scope::Kind::kWorkflow;
  scope.name = workflow.name;
  scope.workflow = index;
  set_counted(scope, workflow);
  set_grid(scope, data.end - data.begin, kMaxPoints, kMaxHeatColumns);
  const Parts parts = parts_of(workflow);
  Encoder(parts, data.begin).encode(scope);
  data.scopes.push_back(std::move(scope));
}

struct TimelinePlace {
  std::size_t workflow;
  std::size_t step;
};

// The busiest ones, in the order of the result.
std::vector<TimelinePlace> charted_steps(TimelineData& data, const model::RunResult& run) {
  std::vector<TimelinePlace> places;
  for (std::size_t i = 0; i != std::min(run.workflows.size(), kMaxChartedWorkflows); ++i) {
    for (std::size_t j = 0; j != run.workflows[i].steps.size(); ++j) {
      if (charted(run.workflows[i].steps[j])) places.push_back({i, j});
    }
  }
  if (places.size() <= kMaxChartedSteps) return places;
  data.steps_left_out = places.size() - kMaxChartedSteps;
  const auto busier = [&](const TimelinePlace& a, const TimelinePlace& b) {
    const std::uint64_t samples_a = run.workflows[a.workflow].steps[a.step].latency.count();
    const std::uint64_t samples_b = run.workflows[b.workflow].steps[b.step].latency.count();
    if (samples_a != samples_b) return samples_a > samples_b;
    return std::pair(a.workflow, a.step) < std::pair(b.workflow, b.step);
  };
  std::ranges::sort(places, busier);
  places.resize(kMaxChartedSteps);
  std::ranges::sort(places, {}, [](const TimelinePlace& place) { return std::pair(place.workflow, place.step); });
  return places;
}

void add_step(TimelineData& data, const model::RunResult& run, TimelinePlace place, std::size_t steps) {
  const model::StepResult& step = run.workflows[place.workflow].steps[place.step];
  Scope scope;
  scope.kind = Scope::Kind::kStep;
  scope.name = step.name;
  scope.workflow = place.workflow;
  scope.step = place.step;
  set_counted(scope, run.workflows[place.workflow]);
  set_grid(scope, data.end - data.begin, std::clamp(kAllStepPoints / steps, kMinPoints, kMaxPoints),
           std::clamp(kAllStepHeatColumns / steps, kMinHeatColumns, kMaxHeatColumns));
  const Parts parts{.steps = {&step}, .workflows = {}};
  Encoder(parts, data.begin).encode(scope);
  data.scopes.push_back(std::move(scope));
}

std::string base64(const std::string& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

nlohmann::ordered_json scope_json(const TimelineData& data, const Scope& scope) {
  constexpr std::array<const char*, 3> kKinds = {"run", "workflow", "step"};
  nlohmann::ordered_json made = {{"kind", kKinds[static_cast<std::size_t>(scope.kind)]},
                                 {"name", printable(scope.name, true)}};
  if (scope.kind == Scope::Kind::kStep) made["workflow"] = data.find(scope.workflow).value_or(0);
  made["from"] = scope.from;
  made["until"] = scope.until;
  made["open"] = scope.open;
  made["width"] = scope.width;
  made["points"] = scope.points;
  made["heatWidth"] = scope.heat_width;
  made["heatColumns"] = scope.heat_columns;
  made["bytes"] = base64(scope.bytes);
  return made;
}

}  // namespace

std::optional<std::size_t> TimelineData::find(std::size_t workflow, std::size_t step) const {
  const auto found = std::ranges::find_if(scopes, [&](const Scope& scope) {
    return scope.kind == Scope::Kind::kStep && scope.workflow == workflow && scope.step == step;
  });
  if (found == scopes.end()) return std::nullopt;
  return static_cast<std::size_t>(found - scopes.begin());
}

std::optional<std::size_t> TimelineData::find(std::size_t workflow) const {
  const auto found = std::ranges::find_if(
      scopes, [&](const Scope& scope) { return scope.kind == Scope::Kind::kWorkflow && scope.workflow == workflow; });
  if (found == scopes.end()) return std::nullopt;
  return static_cast<std::size_t>(found - scopes.begin());
}

TimelineData timeline_data(const model::RunResult& run) {
  TimelineData data;
  set_extent(data, run);
  add_run(data, run);
  for (std::size_t i = 0; i != std::min(run.workflows.size(), kMaxChartedWorkflows); ++i) add_workflow(data, run, i);
  const std::vector<TimelinePlace> places = charted_steps(data, run);
  for (const TimelinePlace& place : places) add_step(data, run, place, places.size());
  return data;
}

std::string timeline_json(const TimelineData& data, const model::RunResult& run) {
  using Json = nlohmann::ordered_json;
  Json made = {{"begin", data.begin}, {"end", data.end}, {"scopes", Json::array()}, {"marks", Json::array()}};
  for (const Scope& scope : data.scopes) made["scopes"].push_back(scope_json(data, scope));
  for (const model::ThresholdVerdict& verdict : run.thresholds) {
    if (verdict.passed || !verdict.judged || made["marks"].size() == kMaxRows) continue;
    made["marks"].push_back({{"at", base::seconds(verdict.failed_at)},
                             {"text", printable(verdict.text + model::window_words(verdict.window), true)}});
  }
  const std::string text = made.dump(-1, ' ', false, Json::error_handler_t::replace);
  // Where '<' may stand in JSON at all, inside a string, \u003c means the same.
  std::string safe;
  safe.reserve(text.size());
  for (const char each : text) {
    if (each == '<') {
      safe += "\\u003c";
    } else {
      safe += each;
    }
  }
  return safe;
}

bool shown(const model::StepResult& step) {
  if (step.role == model::StepRole::kTest) return true;
  if (step.role == model::StepRole::kControl) return step.kind == "group" && !step.latency.empty();
  return step.failed > 0;
}

}  // namespace muster::report::html
