// What several cores record adds up to what one core would have recorded, second by second and in all.
#include "engine/recording.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <thread>

#include "model/options.h"

namespace muster::engine {
namespace {

std::unique_ptr<Program> two_steps() {
  auto program = std::make_unique<Program>();
  program->workflow = "w";
  for (const char* name : {"a", "b"}) {
    program->steps.push_back(
        {.name = name, .kind = "play", .role = model::StepRole::kTest, .tags = {}, .checks = {"size: 1"}});
  }
  program->metrics.push_back({.name = "m", .type = model::MetricType::kTrend});
  return program;
}

struct Event {
  std::uint32_t second;
  std::uint32_t core;
  std::uint32_t step;
  bool ok;
  int microseconds;
};

void apply(const Event& event, Recording& into) {
  StepRecording& step = into.steps[event.step];
  ++(event.ok ? step.ok : step.failed);
  if (!event.ok) ++step.errors[static_cast<std::size_t>(model::ErrorClass::kTimeout)];
  ++step.statuses[event.ok ? 200 : 500];
  ++(event.ok ? step.checks[0].ok : step.checks[0].failed);
  step.bytes_in += static_cast<std::uint64_t>(event.microseconds);
  step.latency.record(std::chrono::microseconds(event.microseconds));
  ++into.iterations;
  into.dropped += event.ok ? 0U : 1U;
  MetricRecording& metric = into.metrics[0];
  const double value = event.microseconds;
  metric.min = metric.count == 0 ? value : std::min(metric.min, value);
  metric.max = metric.count == 0 ? value : std::max(metric.max, value);
  ++metric.count;
  metric.sum += value;
}

// Runs the events through `cores` cores, a set for each second, taking the series now and then.
model::WorkflowResult collect(const Program& program, std::vector<Event> events, std::uint32_t cores,
                              std::uint32_t take_every) {
  Collector collector(program, cores);
  model::WorkflowResult whole = collector.totals();
  const auto take = [&](std::uint32_t second) {
    model::WorkflowResult part = collector.take_series(second);
    whole.series.insert(whole.series.end(), part.series.begin(), part.series.end());
    for (std::size_t i = 0; i < part.steps.size(); ++i) {
      whole.steps[i].series.insert(whole.steps[i].series.end(), part.steps[i].series.begin(),
                                   part.steps[i].series.end());
    }
  };
  for (std::uint32_t second = 0; second < 6; ++second) {
    for (std::uint32_t core = 0; core < cores; ++core) {
      Recording recording(program);
      recording.second = second;
      recording.elapsed = std::chrono::seconds(second + 1);
      for (const Event& event : events) {
        if (event.second == second && event.core % cores == core) apply(event, recording);
      }
      collector.add(core, recording);
    }
    if (second % take_every == 0) take(second);
  }
  take(std::numeric_limits<std::uint32_t>::max());
  model::WorkflowResult totals = collector.totals();
  totals.series = std::move(whole.series);
  for (std::size_t i = 0; i < totals.steps.size(); ++i) totals.steps[i].series = std::move(whole.steps[i].series);
  return totals;
}

RC_GTEST_PROP(Collector, SeveralCoresAddUpToOneAndTheSecondsToTheWhole, ()) {
  const auto program = two_steps();
  const auto events = *rc::gen::container<std::vector<Event>>(rc::gen::map(
      rc::gen::tuple(rc::gen::inRange<std::uint32_t>(0, 6), rc::gen::inRange<std::uint32_t>(0, 12),
                     rc::gen::inRange<std::uint32_t>(0, 2), rc::gen::arbitrary<bool>(), rc::gen::inRange(1, 5'000'000)),
      [](const auto& parts) {
        return Event{std::get<0>(parts), std::get<1>(parts), std::get<2>(parts), std::get<3>(parts),
                     std::get<4>(parts)};
      }));
  const auto cores = *rc::gen::inRange<std::uint32_t>(1, 6);
  const auto take_every = *rc::gen::inRange<std::uint32_t>(1, 7);
  const model::WorkflowResult one = collect(*program, events, 1, 1);
  const model::WorkflowResult many = collect(*program, events, cores, take_every);
  RC_ASSERT(one.iterations == events.size());
  RC_ASSERT(many.iterations == one.iterations);
  RC_ASSERT(many.dropped == one.dropped);
  RC_ASSERT(many.elapsed == one.elapsed);
  RC_ASSERT(many.metrics[0].sum == one.metrics[0].sum);
  RC_ASSERT(many.metrics[0].min == one.metrics[0].min);
  RC_ASSERT(many.metrics[0].max == one.metrics[0].max);
  std::uint64_t iterations = 0;
  std::uint64_t dropped = 0;
  for (std::size_t i = 0; i < many.series.size(); ++i) {
    iterations += many.series[i].iterations;
    dropped += many.series[i].dropped;
    if (i > 0) RC_ASSERT(many.series[i - 1].second < many.series[i].second);
  }
  RC_ASSERT(iterations == many.iterations);
  RC_ASSERT(dropped == many.dropped);
  for (std::size_t s = 0; s < 2; ++s) {
    const model::StepResult& a = one.steps[s];
    const model::StepResult& b = many.steps[s];
    RC_ASSERT(a.ok == b.ok);
    RC_ASSERT(a.failed == b.failed);
    RC_ASSERT(a.errors == b.errors);
    RC_ASSERT(a.statuses == b.statuses);
    RC_ASSERT(a.checks[0].ok == b.checks[0].ok);
    RC_ASSERT(a.bytes_in == b.bytes_in);
    RC_ASSERT(a.latency.count() == b.latency.count());
    RC_ASSERT(a.latency.max() == b.latency.max());
    for (const double q : {0.0, 0.5, 0.9, 0.99, 1.0}) RC_ASSERT(a.latency.quantile(q) == b.latency.quantile(q));
    std::uint64_t ok = 0;
    std::uint64_t failed = 0;
    std::uint64_t recorded = 0;
    for (const model::StepSecond& second : b.series) {
      ok += second.ok;
      failed += second.failed;
      recorded += second.latency.count();
    }
    RC_ASSERT(ok == b.ok);
    RC_ASSERT(failed == b.failed);
    RC_ASSERT(recorded == b.latency.count());
  }
}

TEST(Recording, IsEmptyAgainOnceItIsCleared) {
  const auto program = two_steps();
  Recording recording(*program);
  apply({.second = 0, .core = 0, .step = 1, .ok = false, .microseconds = 5}, recording);
  recording.note("something");
  recording.clear();
  Collector collector(*program, 1);
  collector.add(0, recording);
  EXPECT_EQ(collector.totals().iterations, 0U);
  EXPECT_EQ(collector.totals().steps[1].failed, 0U);
  EXPECT_EQ(collector.totals().steps[1].latency.count(), 0U);
  EXPECT_TRUE(collector.totals().notes.empty());
  EXPECT_EQ(collector.totals().metrics[0].count, 0U);
}

TEST(Collector, WhatAWarmUpRecordedIsThrownAway) {
  const auto program = two_steps();
  Recording recording(*program);
  recording.counted = false;
  apply({.second = 0, .core = 0, .step = 0, .ok = true, .microseconds = 5}, recording);
  Collector collector(*program, 1);
  collector.add(0, recording);
  EXPECT_TRUE(collector.totals().warming_up);
  EXPECT_EQ(collector.totals().steps[0].ok, 0U);
}

TEST(Collector, AMomentAfterTheEndIsNoSecondOfTheSeries) {
  const auto program = two_steps();
  Collector collector(*program, 1);
  Recording recording(*program);
  recording.second = 1;
  recording.elapsed = std::chrono::seconds(2);
  apply({.second = 1, .core = 0, .step = 0, .ok = true, .microseconds = 5}, recording);
  collector.add(0, recording);
  Recording rest(*program);
  rest.second = 2;
  rest.elapsed = std::chrono::microseconds(2'000'070);
  collector.add(0, rest);
  EXPECT_EQ(collector.take_series(9).series.size(), 1U);
  apply({.second = 2, .core = 0, .step = 0, .ok = true, .microseconds = 5}, rest);
  collector.add(0, rest);
  EXPECT_EQ(collector.take_series(9).series.size(), 1U) << "but what was recorded in it counts";
}

TEST(Collector, KeepsABoundedNumberOfNotesTagsAndSamples) {
  const auto program = two_steps();
  Collector collector(*program, 1);
  for (int round = 0; round < 12; ++round) {
    Recording recording(*program);
    for (int i = 0; i < 100; ++i) {
      recording.note("note " + std::to_string(round * 100 + i));
      auto tag = std::make_unique<TagRecording>();
      tag->tags = "t=" + std::to_string(round * 100 + i);
      tag->ok = 1;
      recording.tags.push_back(std::move(tag));
      if (i < 3) recording.steps[0].samples.emplace_back();
    }
    collector.add(0, recording);
  }
  EXPECT_EQ(collector.totals().notes.size(), model::kMaxResultNotes);
  EXPECT_EQ(collector.totals().steps[0].samples.size(), model::kMaxSamplesPerClass);
  EXPECT_EQ(collector.totals().tagged.size(), model::kMaxResultTagged);
  std::uint64_t tagged = 0;
  for (const auto& each : collector.totals().tagged) tagged += each.ok;
  EXPECT_EQ(tagged, 1200U);
}

TEST(Collector, EveryStatusOfThreeDigitsIsToldAsItself) {
  const auto program = two_steps();
  Collector collector(*program, 1);
  Recording recording(*program);
  recording.steps[0].ok = 4;
  for (const std::uint32_t status : {599U, 600U, 700U, 999U}) {
    ASSERT_LT(status, recording.steps[0].statuses.size());
    ++recording.steps[0].statuses[status];
  }
  collector.add(0, recording);
  using Statuses = std::vector<std::pair<std::uint32_t, std::uint64_t>>;
  EXPECT_EQ(collector.totals().steps[0].statuses, (Statuses{{599, 1}, {600, 1}, {700, 1}, {999, 1}}));
}

TEST(RecordingPair, HandsEverythingOverExactlyOnce) {
  const auto program = two_steps();
  RecordingPair pair(*program);
  constexpr std::uint64_t kEvents = 200'000;
  std::thread core([&] {
    for (std::uint64_t i = 0; i < kEvents; ++i) {
      ++pair.current().iterations;
      if (i % 100 == 0) pair.swap();
    }
    while (!pair.swap()) std::this_thread::yield();
  });
  std::uint64_t collected = 0;
  while (collected < kEvents) {
    if (const Recording* recording = pair.handed_over()) {
      collected += recording->iterations;
      pair.release();
    }
  }
  core.join();
  EXPECT_EQ(collected, kEvents);
}

}  // namespace
}  // namespace muster::engine
