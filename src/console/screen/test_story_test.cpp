#include "console/screen/test_story.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace muster::console::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kPerSecond = 1'200;

model::StepResult step(std::string name, std::uint32_t from, std::uint32_t to, std::uint32_t trouble,
                       base::Duration least) {
  model::StepResult made;
  made.name = std::move(name);
  made.kind = "http";
  for (std::uint32_t second = from; second < to; ++second) {
    model::StepSecond part;
    part.second = second;
    const bool bad = second >= trouble;
    part.failed = bad ? 30 : 0;
    part.ok = kPerSecond - part.failed;
    for (std::int64_t i = 0; i != 100; ++i) {
      const base::Duration value = (least + least * i / 40 + (i == 99 ? least * 9 : 0ms)) * (bad ? 20 : 1);
      part.latency.record(value, kPerSecond / 100);
      made.latency.record(value, kPerSecond / 100);
    }
    made.ok += part.ok;
    made.failed += part.failed;
    made.bytes_in += kPerSecond * 1'234;
    made.bytes_out += kPerSecond * 210;
    made.series.push_back(std::move(part));
  }
  return made;
}

model::WorkflowResult workflow(std::string name, std::uint32_t from, std::uint32_t to) {
  model::WorkflowResult made;
  made.name = std::move(name);
  made.began = std::chrono::seconds(from);
  made.elapsed = std::chrono::seconds(to - from);
  made.state = model::WorkflowState::kRunning;
  made.vus = 100;
  made.peak_vus = 100;
  made.iterations = std::uint64_t{to - from} * kPerSecond;
  made.cores = {{.busy = made.elapsed * 57 / 100, .elapsed = made.elapsed},
                {.busy = made.elapsed * 61 / 100, .elapsed = made.elapsed}};
  return made;
}

void add_sample(model::StepResult& to, model::ErrorClass error, std::uint64_t count, std::string detail) {
  to.errors[static_cast<std::size_t>(error)] += count;
  model::ErrorSample sample;
  sample.error = error;
  sample.detail = std::move(detail);
  to.samples.push_back(std::move(sample));
}

}  // namespace

RunPlan Story::plan() const {
  RunPlan made;
  made.job = "shop.yaml";
  made.target = "https://shop.test";
  if (several) {
    WorkflowPlan login;
    login.name = "login";
    login.iterations = 4 * kPerSecond;
    login.load = "100 VUs";
    made.workflows.push_back(std::move(login));
  }
  WorkflowPlan shop;
  shop.name = "shop";
  shop.length = 30s;
  shop.stages = {{10s, "to 100 VUs"}, {25s, "hold 100 VUs"}, {30s, "to 0 VUs"}};
  made.workflows.push_back(std::move(shop));
  for (std::size_t i = 0; i != made.workflows.size(); ++i) made.turns.push_back({i});
  return made;
}

model::RunResult Story::at(std::uint32_t second) const {
  model::RunResult made;
  made.job = "shop.yaml";
  made.elapsed = std::chrono::seconds(second);
  const std::uint32_t begin = several ? 4 : 0;
  if (several) {
    made.workflows.push_back(workflow("login", 0, std::min(second, begin)));
    made.workflows.back().steps = {step("login", 0, std::min(second, begin), 1'000, 4ms)};
    if (second >= begin) {
      made.workflows.back().state = model::WorkflowState::kCompleted;
      made.workflows.back().vus = 0;
    }
  }
  const std::uint32_t end = std::max(second, begin);
  model::WorkflowResult shop = workflow("shop", begin, end);
  if (second < begin) shop.state = model::WorkflowState::kPending;
  shop.steps = {step("catalog", begin, end, trouble, 900us), step("POST /cart", begin, end, trouble, 1500us)};
  const std::uint64_t seconds = end - begin;
  const std::uint64_t bad = end > trouble ? end - trouble : 0;
  shop.steps[0].checks = {{"status: 200", seconds * kPerSecond - bad * 30, bad * 30},
                          {"json.items: exists", seconds * kPerSecond, 0}};
  if (bad > 0) {
    add_sample(shop.steps[0], model::ErrorClass::kStatus, bad * 30, "status 503, expected 200..399");
    add_sample(shop.steps[1], model::ErrorClass::kTimeout, bad * 25, "no answer within 10s");
    add_sample(shop.steps[1], model::ErrorClass::kConnect, bad * 5, "connection refused by 192.0.2.7:443");
  }
  made.workflows.push_back(std::move(shop));
  if (thresholds) {
    model::ThresholdVerdict latency;
    latency.text = "latency p95 < 50ms";
    latency.window = 10s;
    latency.judged = second >= 10;
    latency.value = bad > 0 ? 0.0658 : 0.0049;
    latency.passed = bad == 0;
    model::ThresholdVerdict failed;
    failed.text = "failed rate < 1%";
    failed.judged = second > 0;
    failed.value = bad > 0 ? 0.0084 : 0;
    model::ThresholdVerdict cart = latency;
    cart.text = "latency p99 < 1s";
    cart.where = "step=POST /cart";
    cart.window = {};
    cart.passed = true;
    made.thresholds = {failed, latency, cart};
  }
  return made;
}

RunWatch Story::watched(std::uint32_t second) const {
  RunWatch watch(plan());
  for (std::uint32_t each = 0; each <= second; ++each) watch.observe(at(each), false);
  return watch;
}

}  // namespace muster::console::test
