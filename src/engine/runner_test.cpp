// An engine in this process and one in an executor of its own are the same to whoever drives them.
#include "engine/runner.h"

#include <gmock/gmock.h>

#include <csignal>

#include "engine/only_child.h"
#include "engine/rehearsal.h"
#include "model/options.h"

namespace muster::engine {
namespace {

using testing::HasSubstr;

constexpr const char* kMixed = R"yaml(
    start: [ { name: login, play: "token${vu.id}", save: { token: said } } ]
    steps:
      - { name: a, play: "${token}", check: { size: 6, said: token1 }, tags: { round: "${iteration % 4}" } }
      - retry: 2
        steps: [ { name: b, play: b, fails: "${iteration % 5 == 3}" } ]
      - choose:
          - { weight: 3, steps: [ { name: c, play: c } ] }
          - { weight: 1, steps: [ { name: d, play: d, fails: timeout } ] }
      - { metric: drawn, type: counter, value: "random(1, 6)"
}
      - parallel: [ { name: e, play: e, takes: 1ms }, { name: f, play: f } ]
    stop: [ { name: bye, play: bye } ]
)yaml";

void expect_same(const model::WorkflowResult& one, const model::WorkflowResult& other) {
  EXPECT_EQ(one.state, other.state);
  EXPECT_EQ(one.iterations, other.iterations);
  EXPECT_EQ(one.failed_iterations, other.failed_iterations);
  EXPECT_EQ(one.peak_vus, other.peak_vus);
  EXPECT_EQ(one.notes, other.notes);
  ASSERT_EQ(one.steps.size(), other.steps.size());
  for (std::size_t i = 0; i < one.steps.size(); ++i) {
    const model::StepResult& a = one.steps[i];
    const model::StepResult& b = other.steps[i];
    SCOPED_TRACE(a.name);
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.ok, b.ok);
    EXPECT_EQ(a.failed, b.failed);
    EXPECT_EQ(a.skipped, b.skipped);
    EXPECT_EQ(a.retried, b.retried);
    EXPECT_EQ(a.errors, b.errors);
    EXPECT_EQ(a.bytes_in, b.bytes_in);
    EXPECT_EQ(a.latency.count(), b.latency.count());
    EXPECT_EQ(a.samples.size(), b.samples.size());
    ASSERT_EQ(a.checks.size(), b.checks.size());
    for (std::size_t c = 0; c < a.checks.size(); ++c) {
      EXPECT_EQ(a.checks[c].label, b.checks[c].label);
      EXPECT_EQ(a.checks[c].ok, b.checks[c].ok);
      EXPECT_EQ(a.checks[c].failed, b.checks[c].failed);
    }
  }
  ASSERT_EQ(one.metrics.size(), other.metrics.size());
  for (std::size_t i = 0; i < one.metrics.size(); ++i) {
    EXPECT_EQ(one.metrics[i].count, other.metrics[i].count);
    EXPECT_EQ(one.metrics[i].sum, other.metrics[i].sum);
  }
  ASSERT_EQ(one.tagged.size(), other.tagged.size());
}

class Runners : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Cores, Runners, testing::Values(1, 3));

TEST_P(Runners, GiveTheSameResultInThisProcessAndInAnExecutor) {
  // One VU on each core: with several, whose turn it is decides who draws which random number.
  const std::string load = "{ vus: " + std::to_string(GetParam()) + ", iterations: 120 each }";
  std::vector<model::WorkflowResult> results;
  for (const bool in_process : {true, false, true}) {
    Rehearsal r;
    r.cores = GetParam();
    r.seed = 42;
    r.in_process = in_process;
    results.push_back(r.run(load, kMixed));
  }
  EXPECT_EQ(results[0].iterations, 120U * GetParam());
  EXPECT_GT(step(results[0], "d").failed, 0U);
  expect_same(results[0], results[1]);
  expect_same(results[0], results[2]);
}

// A result of `steps` steps with a series from second `first` on.
model::WorkflowResult with_series(std::size_t steps, std::uint32_t first, std::uint32_t seconds, std::uint64_t ok) {
  model::WorkflowResult made;
  made.name = "w";
  made.steps.resize(steps);
  for (std::uint32_t second = first; second < first + seconds; ++second) {
    made.series.push_back({.second = second, .vus = 1, .iterations = ok, .dropped = 0});
    for (model::StepResult& step : made.steps) {
      model::StepSecond& point = step.series.emplace_back();
      point.second = second;
      point.ok = ok;
      point.latency.record(std::chrono::microseconds(second + 1), ok);
    }
  }
  return made;
}

TEST(Update, ReplacesTotalsAddsToTheSeriesAndLeavesWhatIsTheCallers) {
  model::WorkflowResult result;
  result.reason = "its timeout was over";
  for (std::uint32_t look = 0; look < 3; ++look) {
    model::WorkflowResult totals;
    totals.name = "w";
    totals.steps.resize(1);
    totals.iterations = 10 * look;
    totals.began = std::chrono::milliseconds(2500);
    update(result, std::move(totals), with_series(1, look, 1, look + 1));
  }
  EXPECT_EQ(result.iterations, 20U);
  EXPECT_EQ(result.began, std::chrono::milliseconds(2500));
  EXPECT_EQ(result.reason, "its timeout was over");
  ASSERT_EQ(result.series.size(), 3U);
  ASSERT_EQ(result.steps[0].series.size(), 3U);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(result.series[i].second, i);
    EXPECT_EQ(result.steps[0].series[i].second, i);
    EXPECT_EQ(result.steps[0].series[i].ok, i + 1U);
  }
}

TEST(Update, DoesNotCopyAnHourOfSeriesAtEachLook) {
  constexpr std::size_t kSteps = 100;
  model::WorkflowResult result = with_series(kSteps, 0, 3600, 1);
  std::vector<const model::StepSecond*> before;
  std::vector<const metrics::Bucket*> buckets;
  for (const model::StepResult& step : result.steps) {
    before.push_back(step.series.data());
    buckets.push_back(step.series[1800].latency.buckets().data());
  }
  // A look that brings no second: the series is where it was.
  model::WorkflowResult totals;
  totals.name = "w";
  totals.steps.resize(kSteps);
  update(result, model::WorkflowResult(totals), {});
  for (std::size_t i = 0; i < kSteps; ++i) ASSERT_EQ(result.steps[i].series.data(), before[i]);
  // One that brings a new second: what is there may move when it grows, but nothing in it is copied.
  update(result, model::WorkflowResult(totals), with_series(kSteps, 3600, 1, 1));
  for (std::size_t i = 0; i < kSteps; ++i) {
    ASSERT_EQ(result.steps[i].series.size(), 3601U);
    ASSERT_EQ(result.steps[i].series[1800].latency.buckets().data(), buckets[i]);
  }
}

TEST(ProcessRunner, CarriesCommands) {
  Rehearsal r;
  r.in_process = false;
  bool told = false;
  r.during = [&](Runner& runner, const model::WorkflowResult& result) {
    if (told || result.iterations == 0) return;
    runner.command({.kind = Command::Kind::kStop});
    told = true;
  };
  const auto result = r.run("{ vus: 2, for: 1h }", "    steps: [ { name: a, play: a, takes: 5ms } ]\n");
  EXPECT_EQ(result.state, model::WorkflowState::kCompleted);
  EXPECT_GT(result.iterations, 0U);
}

TEST(ProcessRunner, AKilledExecutorLeavesItsLastSnapshot) {
  Rehearsal r;
  r.in_process = false;
  std::uint64_t seen = 0;
  r.during = [&](Runner&, const model::WorkflowResult& result) {
    if (seen != 0 || result.iterations == 0) return;
    seen = result.iterations;
    const pid_t child = only_child();
    ASSERT_GT(child, 0);
    kill(child, SIGKILL);
  };
  const auto result = r.run("{ vus: 2, for: 1h }", "    steps: [ { name: a, play: a, takes: 5ms } ]\n");
  EXPECT_EQ(result.state, model::WorkflowState::kLost);
  EXPECT_THAT(result.reason, HasSubstr("killed by signal 9"));
  EXPECT_GT(seen, 0U);
  EXPECT_GE(result.iterations, seen);
  EXPECT_EQ(step(result, "a").latency.count(), step(result, "a").ok);
  std::uint64_t in_series = 0;
  for (const model::StepSecond& second : step(result, "a").series) in_series += second.ok;
  EXPECT_EQ(in_series, step(result, "a").ok) << "the series tells as much as the totals";
}

TEST(ProcessRunner, ArrivalsThatAStandstillPreventedStayDue) {
  Rehearsal r;
  r.in_process = false;
  pid_t stopped = -1;
  base::Instant resume{};
  r.during = [&](Runner&, const model::WorkflowResult& result) {
    if (stopped < 0 && result.iterations > 0) {
      stopped = only_child();
      kill(stopped, SIGSTOP);
      resume = base::now() + std::chrono::seconds(1);
    } else if (stopped > 0 && resume != base::Instant{} && base::now() > resume) {
      kill(stopped, SIGCONT);
      resume = {};
    }
  };
  const auto result = r.run("{ rate: 4000/s, for: 800ms, max_vus: 50 }", "    steps: [ { name: a, play: a } ]\n");
  EXPECT_EQ(result.arrivals, 3200U) << "as many as the schedule has";
  EXPECT_LT(result.iterations, 3200U);
  EXPECT_EQ(result.dropped, 0U);
}

TEST(ProcessRunner, AWorkflowWithoutAStepOfItsOwnInTheResultKeepsWhatItRecorded) {
  Rehearsal r;
  r.in_process = false;
  const auto result = r.run("{ vus: 1, iterations: 1000 }",
                            "    steps: [ { metric: m, type: counter, value: 1 }, { set: { x: 1 } } ]\n");
  EXPECT_EQ(result.state, model::WorkflowState::kCompleted);
  EXPECT_EQ(result.iterations, 1000U);
  ASSERT_EQ(result.metrics.size(), 1U);
  EXPECT_EQ(result.metrics[0].count, 1000U);
}

TEST(ProcessRunner, ACheckWithALongConditionIsCounted) {
  Rehearsal r;
  r.in_process = false;
  const std::string long_text(70'000, 'x');
  const auto result =
      r.run("{ vus: 1, iterations: 10 }", "    steps: [ { name: a, play: a, check: { said: { that: " + long_text +
                                              ", label: L" + long_text + " } } } ]\n");
  EXPECT_EQ(result.state, model::WorkflowState::kCompleted);
  EXPECT_EQ(step(result, "a").ok, 10U);
  ASSERT_EQ(step(result, "a").checks.size(), 1U);
  EXPECT_EQ(step(result, "a").checks[0].failed, 10U);
}

TEST(ProcessRunner, AResultThatCannotBeReadIsNoSuccess) {
  Rehearsal r;
  r.in_process = false;
  auto job = r.job(
      "muster: 1\nworkflows:\n  - name: w\n    load: { vus: 1, iterations: 1 }\n"
      "    steps: [ { name: a, play: a, check: [ size > 0 ] } ]\n");
  // More than the loader lets through.
  auto& checks = job.workflows[0].steps[0].checks;
  checks.resize(model::kMaxResultDetails + 1, checks[0]);
  const auto result = r.run_job(job);
  EXPECT_EQ(result.state, model::WorkflowState::kFailed);
  EXPECT_THAT(result.reason, HasSubstr("nothing of what it counted could be read. The result of a workflow"));
  EXPECT_THAT(result.reason, HasSubstr("Use fewer steps and checks"));
  ASSERT_EQ(result.steps.size(), 1U);
  EXPECT_EQ(result.steps[0].name, "a");
}

class Refusing final : public Protocol {
 public:
  base::Expected<std::unique_ptr<PreparedCall>> prepare(const model::Step&, PrepareContext&) override {
    return std::make_unique<PlayCall>();
  }
  std::unique_ptr<Client> make_client(const CoreServices& services) override {
    class Closed final : public Client {
     public:
      base::Expected<void> open() override { return base::fail("the theatre is closed"); }
      bool call(Call&, Outcome&) override { return false; }
      void cancel(Call&) override {}
      void iteration_ended(Vu&, bool) override {}
    };
    static_cast<void>(services);
    return std::make_unique<Closed>();
  }
};

TEST(ProcessRunner, AClientThatCannotBeOpenedFailsTheWorkflowWithItsReason) {
  Rehearsal r;
  r.registry.protocols = Protocols();
  r.registry.protocols.add("play", std::make_shared<Refusing>());
  r.in_process = false;
  r.cores = 2;
  const auto result = r.run("{ vus: 2, for: 1h }", "    steps: [ { name: a, play: a } ]\n");
  EXPECT_EQ(result.state, model::WorkflowState::kFailed);
  EXPECT_THAT(result.reason, HasSubstr("the theatre is closed"));
}

}  // namespace
}  // namespace muster::engine
