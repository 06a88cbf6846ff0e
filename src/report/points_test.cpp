#include "report/points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "report/totals.h"

namespace muster::report {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using Second = std::optional<std::uint32_t>;

// A run of one workflow with two requesting steps and a think, to which seconds are added as a run would.
struct Job {
  model::RunResult result;

  Job() {
    result.started = 1'700'000'000s;
    model::WorkflowResult workflow;
    workflow.name = "browse";
    for (const char* name : {"login", "catalog", "think"}) {
      model::StepResult step;
      step.name = name;
      step.checks = {{"status: 200", 0, 0}};
      workflow.steps.push_back(std::move(step));
    }
    workflow.steps[2].role = model::StepRole::kAction;
    result.workflows = {std::move(workflow)};
  }

  model::WorkflowResult& workflow() { return result.workflows[0]; }

  template <class Point>
  static Point& at(std::vector<Point>& series, std::uint32_t second) {
    auto place = std::ranges::lower_bound(series, second, {}, &Point::second);
    if (place == series.end() || place->second != second) {
      place = series.insert(place, Point());
      place->second = second;
    }
    return *place;
  }

  void add(std::size_t step, std::uint32_t second, std::uint64_t ok, std::uint64_t failed = 0,
           model::ErrorClass error = model::ErrorClass::kTimeout) {
    model::StepResult& whole = workflow().steps[step];
    model::StepSecond& part = at(whole.series, second);
    part.ok += ok;
    part.failed += failed;
    part.bytes_in += ok * 100;
    part.bytes_out += (ok + failed) * 10;
    if (ok + failed > 0) part.latency.record(2ms, ok + failed);
    whole.ok += ok;
    whole.failed += failed;
    whole.bytes_in += ok * 100;
    whole.bytes_out += (ok + failed) * 10;
    whole.errors[static_cast<std::size_t>(error)] += failed;
    whole.checks[0].ok += ok;
    whole.checks[0].failed += failed;
    model::WorkflowSecond& row = at(workflow().series, second);
    row.vus = 7;
    row.iterations += ok;
    workflow().iterations += ok;
  }
};

// What a source told, in short.
struct Told {
  Second second;
  bool late = false;
  std::string step;  // "" for the workflow
  std::uint64_t requests = 0;
  std::uint64_t failed = 0;

  bool operator==(const Told&) const = default;
};

std::ostream& operator<<(std::ostream& to, const Told& told) {
  return to << (told.second ? std::to_string(*told.second) : "-") << (told.late ? " late " : " ") << told.step << ' '
            << told.requests << '/' << told.failed;
}

struct Listener {
  std::vector<Told> told;
  Counts sum;
  ErrorCounts errors{};
  std::uint64_t checks_ok = 0;
  std::uint64_t checks_failed = 0;
  std::uint64_t iterations = 0;

  PointSource::Sink sink() {
    return [this](const SecondPoints& points) {
      for (const WorkflowPoint& workflow : points.workflows) {
        for (const StepPoint& step : workflow.steps) note(points, step.step->name, step);
        told.push_back(
            {points.second, points.late, "", workflow.measures.added.requests, workflow.measures.added.failed});
        iterations += workflow.iterations;
      }
    };
  }

  void note(const SecondPoints& points, const std::string& name, const StepPoint& step) {
    const Counts& added = step.measures.added;
    told.push_back({points.second, points.late, name, added.requests, added.failed});
    sum.requests += added.requests;
    sum.failed += added.failed;
    sum.bytes_in += added.bytes_in;
    sum.bytes_out += added.bytes_out;
    std::uint64_t by_class = 0;
    for (std::size_t i = 0; i != errors.size(); ++i) {
      errors[i] += step.measures.errors[i];
      by_class += step.measures.errors[i];
    }
    if (points.second) {
      EXPECT_LE(by_class, added.failed);
    }
    for (const CheckPoint& check : step.checks) {
      checks_ok += check.ok;
      checks_failed += check.failed;
    }
  }

  std::vector<Told> take() { return std::exchange(told, {}); }
};

TEST(Points, ASecondIsToldOnceInOrderAndWhenItIsOldEnough) {
  Job run;
  Listener listener;
  PointSource source;
  run.add(0, 0, 10, 1);
  run.add(1, 0, 5);
  run.result.elapsed = 2900ms;
  source.observe(run.result, listener.sink());
  EXPECT_THAT(listener.take(), IsEmpty()) << "second 0 is not two seconds old yet";
  run.add(0, 1, 20);
  run.result.elapsed = 3s;
  source.observe(run.result, listener.sink());
  EXPECT_THAT(listener.take(),
              ElementsAre(Told{0, false, "login", 11, 1}, Told{0, false, "catalog", 5, 0}, Told{0, false, "", 16, 1}));
  source.observe(run.result, listener.sink());
  EXPECT_THAT(listener.take(), IsEmpty());
  source.finish(run.result, listener.sink());
  EXPECT_THAT(listener.take(), ElementsAre(Told{1, false, "login", 20, 0}, Told{1, false, "", 20, 0}));
}

TEST(Points, AStepThatMakesNoRequestsIsToldButNotCountedInItsWorkflow) {
  Job run;
  Listener listener;
  run.add(2, 0, 9);
  PointSource().finish(run.result, listener.sink());
  EXPECT_THAT(listener.take(), ElementsAre(Told{0, false, "think", 9, 0}, Told{0, false, "", 0, 0}));
}

TEST(Points, WhatComesLateIsToldAsAnAdditionBesideTheWholeSecond) {
  Job run;
  PointSource source;
  Listener listener;
  run.add(0, 0, 10);
  run.result.elapsed = 5s;
  source.observe(run.result, listener.sink());
  listener.take();
  run.add(0, 0, 4, 2);
  Measures measures;
  std::uint64_t samples = 0;
  source.observe(run.result, [&](const SecondPoints& points) {
    EXPECT_TRUE(points.late);
    measures = points.workflows.at(0).steps.at(0).measures;
    samples = points.workflows[0].steps[0].latency->count();
  });
  EXPECT_EQ(measures.added, (Counts{.requests = 6, .failed = 2, .bytes_in = 400, .bytes_out = 60}));
  EXPECT_EQ(measures.whole, (Counts{.requests = 16, .failed = 2, .bytes_in = 1400, .bytes_out = 160}));
  EXPECT_EQ(samples, 16u);
  source.finish(run.result, listener.sink());
  EXPECT_THAT(listener.take(), IsEmpty());
}

TEST(Points, ASecondThatTurnsUpAfterItsTurnIsLateToo) {
  Job run;
  PointSource source;
  Listener listener;
  run.add(0, 0, 1);
  run.add(0, 2, 1);
  run.result.elapsed = 6s;
  source.observe(run.result, listener.sink());
  listener.take();
  run.add(1, 1, 3);
  source.observe(run.result, listener.sink());
  EXPECT_THAT(listener.take(), ElementsAre(Told{1, true, "catalog", 3, 0}, Told{1, true, "", 3, 0}));
}

TEST(Points, WhatComesTooLateForItsSecondIsToldAtTheEndWithoutOne) {
  Job run;
  PointSource source({.settle = 2s, .late_seconds = 3});
  Listener listener;
  run.add(0, 0, 10);
  run.add(0, 20, 1);
  run.result.elapsed = 30s;
  source.observe(run.result, listener.sink());
  listener.take();
  run.add(0, 0, 5, 1);
  source.observe(run.result, listener.sink());
  EXPECT_THAT(listener.take(), IsEmpty());
  source.finish(run.result, listener.sink());
  EXPECT_THAT(listener.take(),
              ElementsAre(Told{std::nullopt, true, "login", 6, 1}, Told{std::nullopt, true, "", 6, 1}));
  EXPECT_EQ(listener.iterations, 16u);
}

TEST(Points, ALostExecutorThatToldMoreSecondsThanTotalsAddsNothingNegative) {
  Job run;
  PointSource source;
  Listener listener;
  run.add(0, 0, 10, 2);
  run.workflow().steps[0].ok = 7;
  run.workflow().steps[0].failed = 0;
  run.workflow().steps[0].errors = {};
  run.workflow().iterations = 0;
  source.finish(run.result, listener.sink());
  EXPECT_THAT(listener.take(), ElementsAre(Told{0, false, "login", 12, 2}, Told{0, false, "", 12, 2}));
}

TEST(Points, ErrorsArePlacedWhereRequestsFailed) {
  Job run;
  PointSource source;
  run.add(0, 0, 0, 3, model::ErrorClass::kConnect);
  run.add(0, 1, 0, 0);
  run.add(0, 2, 0, 5, model::ErrorClass::kStatus);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> told;
  Job early;
  early.add(0, 0, 0, 3, model::ErrorClass::kConnect);
  early.result.elapsed = 3s;
  const auto sink = [&](const SecondPoints& points) {
    const ErrorCounts& errors = points.workflows.at(0).measures.errors;
    told.emplace_back(errors[static_cast<std::size_t>(model::ErrorClass::kConnect)],
                      errors[static_cast<std::size_t>(model::ErrorClass::kStatus)]);
  };
  source.observe(early.result, sink);
  source.finish(run.result, sink);
  EXPECT_THAT(told, ElementsAre(Pair(3u, 0u), Pair(0u, 0u), Pair(0u, 5u)));
}

TEST(Points, ARateHoldsForASecondThatTheLoadCoveredInPart) {
  Job run;
  run.workflow().began = 10'700ms;
  run.workflow().elapsed = 1500ms;
  run.add(0, 10, 30);
  run.add(0, 11, 100);
  run.add(0, 12, 20);
  std::vector<double> rates;
  PointSource().finish(run.result,
                       [&](const SecondPoints& points) { rates.push_back(points.workflows.at(0).measures.rate); });
  ASSERT_EQ(rates.size(), 3u);
  for (const double rate : rates) EXPECT_NEAR(rate, 100, 1e-6);
}

TEST(Points, TheRateOfASliverOfASecondIsThatOfItAndTheSecondBefore) {
  Job run;
  run.workflow().elapsed = 2050ms;
  run.add(0, 0, 400);
  run.add(0, 1, 400);
  run.add(0, 2, 20);
  std::vector<double> rates;
  PointSource().finish(run.result,
                       [&](const SecondPoints& points) { rates.push_back(points.workflows.at(0).measures.rate); });
  ASSERT_EQ(rates.size(), 3u);
  EXPECT_NEAR(rates[2], 400, 1e-6);
  const auto seconds = seconds_of(run.result);
  ASSERT_EQ(seconds.size(), 3u);
  EXPECT_NEAR(seconds[2].rate, 400, 1e-6);
}

TEST(Points, ASecondInWhichVusOnlyWaitedIsTold) {
  Job run;
  Job::at(run.workflow().series, 4).vus = 3;
  std::vector<std::uint64_t> vus;
  PointSource().finish(run.result, [&](const SecondPoints& points) { vus.push_back(points.workflows.at(0).vus); });
  EXPECT_THAT(vus, ElementsAre(3u));
}

// The promise that outputs build on: whatever comes when, nothing is told twice and nothing is left out.
RC_GTEST_PROP(Points, SumsOverAllPointsAreTheTotals, ()) {
  Job run;
  Listener listener;
  PointSource source({.settle = 2s, .late_seconds = 3});
  const auto moments = *rc::gen::inRange(1, 25);
  for (int moment = 0; moment != moments; ++moment) {
    const auto now = static_cast<std::uint32_t>(moment);
    const auto additions = *rc::gen::inRange(0, 5);
    for (int i = 0; i != additions; ++i) {
      const auto age = *rc::gen::inRange<std::uint32_t>(0, 8);
      run.add(*rc::gen::inRange<std::size_t>(0, 3), now - std::min(age, now), *rc::gen::inRange<std::uint64_t>(0, 50),
              *rc::gen::inRange<std::uint64_t>(0, 20),
              static_cast<model::ErrorClass>(*rc::gen::inRange<std::size_t>(0, model::kErrorClasses)));
    }
    run.result.elapsed = std::chrono::seconds(moment + 1);
    source.observe(run.result, listener.sink());
  }
  source.finish(run.result, listener.sink());

  Counts all;
  ErrorCounts errors{};
  std::uint64_t checks = 0;
  for (const model::StepResult& step : run.workflow().steps) {
    all.requests += step.ok + step.failed;
    all.failed += step.failed;
    all.bytes_in += step.bytes_in;
    all.bytes_out += step.bytes_out;
    for (std::size_t i = 0; i != errors.size(); ++i) errors[i] += step.errors[i];
    checks += step.checks[0].ok;
  }
  RC_ASSERT(listener.sum == all);
  RC_ASSERT(listener.errors == errors);
  RC_ASSERT(listener.checks_ok == checks);
  RC_ASSERT(listener.iterations == run.workflow().iterations);
  std::vector<std::uint32_t> on_time;
  for (const Told& each : listener.told) {
    if (each.step.empty() && !each.late) on_time.push_back(*each.second);
  }
  RC_ASSERT(std::ranges::is_sorted(on_time));
  RC_ASSERT(std::ranges::adjacent_find(on_time) == on_time.end());
}

}  // namespace
}  // namespace muster::report
