// Writes HTML reports to look at and to test in a browser: sample_reports FOLDER. All are made up, the same each time:
// checkout.html (an open load with a slow spell, errors and a comparison), hour.html (an hour, a hundred steps),
// steady.html (percentiles close together, of a few far away) and hostile.html (names that try to be HTML). Prints how
// long each took to make and its size, as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "report/atomic_file.h"
#include "report/html_report.h"

namespace muster {
namespace {

using namespace std::chrono_literals;

constexpr int kSlices = 24;  // of the latencies of one second: each stands for as many requests

// A step as the server behind it behaves: how many requests, how slow, how unreliable, as functions of time.
struct Behaviour {
  std::string name;
  double rate = 10;      // requests per second
  double median = 0.02;  // seconds
  double spread = 0.4;   // of the logarithm
  double failing = 0;    // share of requests
  double spell = 1;      // by how much it is slower while the server has its slow spell
};

// Approximates the quantile function of the normal distribution (logistic, scaled): good enough to look like one.
double normal_quantile(double q) {
  return std::log(q / (1 - q)) * std::numbers::sqrt3 / std::numbers::pi;
}

class Maker {
 public:
  Maker(std::uint64_t seed, std::uint32_t seconds) : random_(seed), seconds_(seconds) {}

  model::StepResult step(const Behaviour& behaviour) {
    model::StepResult made;
    made.name = behaviour.name;
    made.kind = "http";
    for (std::uint32_t second = 0; second != seconds_; ++second) add_second(made, behaviour, second);
    made.statuses = {{200, made.ok}};
    if (made.failed > 0) made.statuses.emplace_back(503, made.failed);
    made.errors[static_cast<std::size_t>(model::ErrorClass::kStatus)] = made.failed;
    made.connections = 50;
    return made;
  }

  // Ramps up during the first tenth of the run.
  double ramp(std::uint32_t second) const { return std::min(1.0, 0.1 + 9.0 * (second + 1) / seconds_); }

  // From the middle of the run to three quarters of it, with soft edges.
  double slowness(std::uint32_t second) const {
    const double at = static_cast<double>(second) / seconds_;
    return 1 / (1 + std::exp(-(at - 0.5) * 120)) - 1 / (1 + std::exp(-(at - 0.72) * 60));
  }

  double noise(double size) { return 1 + size * (random_.unit() - 0.5); }

 private:
  void add_second(model::StepResult& step, const Behaviour& behaviour, std::uint32_t number) {
    model::StepSecond second;
    second.second = number;
    const double slow = 1 + (behaviour.spell - 1) * slowness(number);
    const double centre = behaviour.median * slow * noise(0.12);
    const auto requests = static_cast<std::uint64_t>(std::lround(behaviour.rate * ramp(number) * noise(0.08)));
    if (requests == 0) return;
    const double failing = behaviour.failing * (0.05 + slowness(number));
    second.failed = static_cast<std::uint64_t>(static_cast<double>(requests) * failing * random_.unit() * 2);
    second.failed = std::min(second.failed, requests);
    second.ok = requests - second.failed;
    for (int i = 0; i != kSlices; ++i) {
      const std::uint64_t share =
          requests * static_cast<std::uint64_t>(i + 1) / kSlices - requests * static_cast<std::uint64_t>(i) / kSlices;
      const double q = (i + random_.unit()) / kSlices;
      const double factor = std::exp(behaviour.spread * normal_quantile(std::clamp(q, 1e-4, 1 - 1e-4)));
      record(step, second, base::from_seconds(centre * factor), share);
    }
    second.bytes_in = requests * 2'300;
    second.bytes_out = requests * 310;
    step.ok += second.ok;
    step.failed += second.failed;
    step.bytes_in += second.bytes_in;
    step.bytes_out += second.bytes_out;
    step.series.push_back(std::move(second));
  }

  static void record(model::StepResult& step, model::StepSecond& second, base::Duration time, std::uint64_t count) {
    if (count == 0) return;
    second.latency.record(time, count);
    step.latency.record(time, count);
    step.service.record(time * 9 / 10, count);
    step.phases[static_cast<std::size_t>(model::Phase::kWait)].record(time * 8 / 10, count);
    step.phases[static_cast<std::size_t>(model::Phase::kReceive)].record(time / 10, count);
    if (second.second % 20 == 0) {
      step.phases[static_cast<std::size_t>(model::Phase::kConnect)].record(time / 4, count);
      step.phases[static_cast<std::size_t>(model::Phase::kTls)].record(time / 2, count);
    }
  }

  base::Random random_;
  std::uint32_t seconds_;
};

model::RunResult run_of(std::string job, std::uint32_t seconds) {
  model::RunResult run;
  run.job = std::move(job);
  run.version = MUSTER_VERSION;
  run.seed = 42;
  run.started = 1'700'000'000s;
  run.elapsed = std::chrono::seconds(seconds) + 400ms;
  return run;
}

model::WorkflowResult workflow_of(Maker& maker, std::string name, std::uint32_t seconds,
                                  const std::vector<Behaviour>& behaviours) {
  model::WorkflowResult made;
  made.name = std::move(name);
  made.state = model::WorkflowState::kCompleted;
  made.elapsed = std::chrono::seconds(seconds);
  made.open = true;
  made.max_vus = 400;
  made.cores = {{.busy = made.elapsed / 3, .elapsed = made.elapsed},
                {.busy = made.elapsed / 4, .elapsed = made.elapsed}};
  for (const Behaviour& behaviour : behaviours) made.steps.push_back(maker.step(behaviour));
  for (std::uint32_t second = 0; second != seconds; ++second) {
    const double vus = 40 * maker.ramp(second) * (1 + 5 * maker.slowness(second)) * maker.noise(0.05);
    const auto dropped = static_cast<std::uint64_t>(9 * maker.slowness(second) * maker.noise(1));
    made.series.push_back(
        {.second = second, .vus = static_cast<std::uint32_t>(vus), .iterations = 90, .dropped = dropped});
    made.dropped += dropped;
    made.iterations += 90;
    made.arrivals += 90 + dropped;
    made.peak_vus = std::max<std::uint64_t>(made.peak_vus, static_cast<std::uint64_t>(vus));
  }
  return made;
}

model::ThresholdVerdict threshold(std::string text, double value, bool passed, base::Duration failed_at = {}) {
  model::ThresholdVerdict made;
  made.text = std::move(text);
  made.value = value;
  made.samples = 100'000;
  made.judged = true;
  made.passed = passed;
  made.failed_at = failed_at;
  return made;
}

void add_findings(model::WorkflowResult& shop) {
  for (model::StepResult& step : shop.steps) step.checks = {{"status: 200", step.ok, step.failed}};
  shop.steps[2].checks.push_back({"json.order.id: exists", shop.steps[2].ok, 0});
  shop.steps[2].samples.push_back(
      {.error = model::ErrorClass::kStatus,
       .at = 331s,
       .detail = "status 503, expected 200..399",
       .request =
           "POST /cart HTTP/1.1\r\nHost: shop.test\r\nContent-Type: application/json\r\n\r\n{\"id\":7,\"count\":1}",
       .response =
           "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 2\r\nContent-Length: 19\r\n\r\n{\"error\":\"no room\"}"});
  model::UserMetric size;
  size.name = "basket size";
  size.count = 18'000;
  size.sum = 75'600;
  size.min = 1;
  size.max = 19;
  for (int i = 1; i != 20; ++i) size.values.record(i, 1000);
  shop.metrics = {std::move(size)};
  for (const char* region : {"region=eu", "region=us", "region=asia"}) {
    model::TaggedResult tagged;
    tagged.tags = region;
    tagged.ok = shop.steps[0].ok / 3;
    tagged.latency = shop.steps[0].latency;
    shop.tagged.push_back(std::move(tagged));
  }
  shop.notes = {{"DNS answered anew", 31}};
}

model::RunResult checkout() {
  constexpr std::uint32_t kSeconds = 600;
  Maker maker(7, kSeconds);
  model::RunResult run = run_of("checkout.yaml", kSeconds);
  run.verdict = model::Verdict::kFailed;
  run.exit_code = 99;
  run.reason = "1 of 3 thresholds failed: 'latency p95 < 300ms' at 5:21";
  run.workflows.push_back(
      workflow_of(maker, "checkout", kSeconds,
                  {{.name = "GET /", .rate = 90, .median = 0.018, .spread = 0.35, .failing = 0, .spell = 3},
                   {.name = "GET /catalog", .rate = 90, .median = 0.042, .spread = 0.5, .failing = 0.002, .spell = 6},
                   {.name = "POST /cart", .rate = 60, .median = 0.065, .spread = 0.5, .failing = 0.08, .spell = 9},
                   {.name = "POST /pay", .rate = 20, .median = 0.120, .spread = 0.6, .failing = 0.01, .spell = 2}}));
  add_findings(run.workflows[0]);
  run.thresholds = {threshold("latency p95 < 300ms", 0.412, false, 321s), threshold("failed rate < 5%", 0.011, true),
                    threshold("requests rate > 100", 241.7, true)};
  run.thresholds[1].where = "step=POST /cart";
  run.marks = {{"dropped",
                "1,204 of 55,204 arrivals (2.2%) were dropped: the server saw less than the load asked for, and the "
                "latency of what was dropped is not in the figures; raise max_vus, or use 'late: queue'"}};
  return run;
}

model::RunResult hour() {
  constexpr std::uint32_t kSeconds = 3600;
  Maker maker(11, kSeconds);
  model::RunResult run = run_of("everything.yaml", kSeconds);
  run.reason = "the run was completed and its threshold holds";
  std::vector<Behaviour> behaviours;
  for (int i = 0; i != 100; ++i) {
    behaviours.push_back({.name = fmt::format("GET /api/v2/section-{}/items/{}", i / 10, i % 10),
                          .rate = 20.0 + i % 7 * 15,
                          .median = 0.004 * (1 + i % 13),
                          .spread = 0.3 + 0.02 * (i % 10),
                          .failing = i % 25 == 0 ? 0.03 : 0,
                          .spell = 1.0 + i % 5});
  }
  run.workflows.push_back(workflow_of(maker, "everything", kSeconds, behaviours));
  run.thresholds = {threshold("latency p95 < 300ms", 0.21, true)};
  return run;
}

model::RunResult steady() {
  constexpr std::uint32_t kSeconds = 30;
  Maker maker(17, kSeconds);
  model::RunResult run = run_of("steady.yaml", kSeconds);
  run.reason = "the run was completed";
  run.workflows.push_back(
      workflow_of(maker, "steady", kSeconds, {{.name = "GET /", .rate = 100, .median = 0.02, .spread = 0.05}}));
  for (const base::Duration away : {base::Duration(2ms), base::Duration(400ms)}) {
    run.workflows[0].steps[0].latency.record(away, 2);
  }
  return run;
}

model::RunResult hostile(const std::string& text) {
  constexpr std::uint32_t kSeconds = 30;
  Maker maker(13, kSeconds);
  model::RunResult run = run_of(text, kSeconds);
  run.verdict = model::Verdict::kInterrupted;
  run.exit_code = 130;
  run.reason = text;
  for (int i = 0; i != 2; ++i) {
    run.workflows.push_back(workflow_of(maker, text, kSeconds, {{.name = text, .failing = 0.5}, {.name = text + "2"}}));
    model::WorkflowResult& workflow = run.workflows.back();
    workflow.reason = text;
    workflow.steps[0].checks = {{text, 1, 1}};
    workflow.steps[0].samples.push_back(
        {.error = model::ErrorClass::kReset, .at = 1s, .detail = text, .request = text, .response = text});
    workflow.notes = {{text, 1}};
    workflow.tagged.push_back({.tags = text, .ok = 1, .failed = 0, .latency = {}});
    workflow.metrics.emplace_back().name = text;
  }
  run.thresholds = {threshold(text, 1, false, 12s)};
  run.thresholds[0].where = text;
  run.marks = {{text, text}};
  return run;
}

report::Delta delta(std::string metric, std::string step, double before, double change, double half, bool headline) {
  report::Delta made;
  made.metric = std::move(metric);
  made.step = std::move(step);
  made.workflow = made.step.empty() ? "" : "checkout";
  made.before = before;
  made.after = before * (1 + change);
  made.change = change;
  made.low = change - half;
  made.high = change + half;
  made.judged = true;
  made.significant = std::abs(change) > half;
  made.worse = change > 0;
  made.headline = headline;
  return made;
}

report::Comparison comparison() {
  report::Comparison made;
  made.before.id = "r-20231113-4f2a";
  made.before.job = "checkout.yaml";
  made.before.started = 1'699'900'000s;
  made.before.elapsed = 600s;
  made.before.requests = 151'000;
  made.after.id = "this run";
  made.after.job = "checkout.yaml";
  made.after.started = 1'700'000'000s;
  made.after.elapsed = 600s;
  made.after.requests = 149'000;
  made.verdict = report::ComparisonVerdict::kWorse;
  made.sentence = "p95 got worse by 38 % (31 % to 45 %)";
  made.seconds_before = made.seconds_after = 600;
  made.deltas = {delta("p95", "", 0.298, 0.38, 0.07, true),          delta("p50", "", 0.040, 0.02, 0.03, true),
                 delta("p95", "POST /cart", 0.3, 0.61, 0.12, false), delta("p95", "GET /", 0.03, -0.08, 0.02, false),
                 delta("p99", "POST /pay", 0.4, 0.05, 0.11, false),  delta("mean", "GET /", 0.019, 0.01, 0.02, false)};
  made.conditions = {{.text = "p95 +10%",
                      .judged = true,
                      .fired = true,
                      .sentence = "p95 rose by 38 % (31 % to 45 %), the limit is 10 %"}};
  made.notes = {"the earlier run asked for 240 requests a second, this one for 241"};
  return made;
}

constexpr const char* kSource =
    "muster: 1\ntarget: https://shop.test\nsecrets: [ PASSWORD ]\nthresholds:\n  - latency p95 < 300ms\n"
    "  - { that: failed rate < 5%, where: { step: POST /cart } }\n  - requests rate > 100\nworkflows:\n  - name: "
    "checkout\n"
    "    load: { rate: 90/s, for: 10m, max_vus: 400 }\n    steps:\n      - get: /\n      - get: /catalog\n"
    "      - post: /cart\n        json: { id: 7, count: 1 }\n"
    "      - post: /pay\n        auth: { basic: \"shop:${env.PASSWORD}\" }\n";

bool write(const std::string& path, const model::RunResult& run, const std::string& source,
           const report::Comparison* compared) {
  const report::RunInfo info{
      .job = run.job, .version = run.version, .seed = run.seed, .started = run.started, .source = source};
  const base::Instant begun = base::now();
  const std::string page =
      report::html_report(info, run, compared, {{"System", "Linux 6.1 x86_64"}, {"Processors", "8"}});
  const double took = base::seconds(base::now() - begun);
  const auto written = report::write_atomically(path, page);
  if (!written) {
    std::fputs((written.error().message + "\n").c_str(), stderr);
    return false;
  }
  std::fputs(fmt::format("{{\"file\": \"{}\", \"bytes\": {}, \"seconds\": {:.3f}}}\n", path, page.size(), took).c_str(),
             stdout);
  return true;
}

}  // namespace
}  // namespace muster

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: sample_reports FOLDER\n", stderr);
    return 2;
  }
  using namespace std::string_literals;
  const std::string folder = arguments[1] + "/"s;
  const muster::report::Comparison compared = muster::comparison();
  const std::string hostile = "</script><img src=x onerror=alert(1)><script>alert(2)</script>\"'&";
  const bool all = muster::write(folder + "checkout.html", muster::checkout(), muster::kSource, &compared) &&
                   muster::write(folder + "hour.html", muster::hour(), muster::kSource, nullptr) &&
                   muster::write(folder + "steady.html", muster::steady(), muster::kSource, nullptr) &&
                   muster::write(folder + "hostile.html", muster::hostile(hostile), hostile, nullptr);
  return all ? 0 : 1;
}
