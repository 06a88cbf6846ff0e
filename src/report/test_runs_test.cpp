#include "report/test_runs.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace muster::report::test {
namespace {

using namespace std::chrono_literals;

// Latencies that rise from `least` with a long tail, the same for every call.
void fill(metrics::Histogram& histogram, std::uint64_t count, base::Duration least) {
  for (std::uint64_t i = 0; i != 1000; ++i) {
    const base::Duration value = least + least * static_cast<std::int64_t>(i * i) / 200'000 +
                                 (i > 990 ? least * static_cast<std::int64_t>(i - 990) : base::Duration{});
    const std::uint64_t share = count / 1000 + (i < count % 1000 ? 1 : 0);
    if (share > 0) histogram.record(value, share);
  }
}

model::StepResult step(std::string name, std::uint64_t ok, std::uint64_t failed, base::Duration least) {
  model::StepResult made;
  made.name = std::move(name);
  made.kind = "http";
  made.ok = ok;
  made.failed = failed;
  made.bytes_in = (ok + failed) * 1234;
  made.bytes_out = (ok + failed) * 210;
  made.connections = 10;
  if (ok > 0) made.statuses = {{200, ok}};
  fill(made.latency, ok + failed, least);
  for (std::uint32_t second = 0; second != 3; ++second) {
    model::StepSecond part;
    part.second = second;
    part.ok = ok / 3;
    part.failed = failed / 3;
    part.bytes_in = part.ok * 1234;
    part.bytes_out = part.ok * 210;
    part.latency.record(least * 2, part.ok + part.failed);
    made.series.push_back(std::move(part));
  }
  return made;
}

void add_errors(model::StepResult& to, model::ErrorClass error, std::uint64_t count, std::string detail) {
  to.errors[static_cast<std::size_t>(error)] += count;
  model::ErrorSample sample;
  sample.error = error;
  sample.at = 1250ms;
  sample.detail = std::move(detail);
  sample.request = "GET /cart HTTP/1.1\r\nHost: shop.test\r\n\r\n";
  to.samples.push_back(std::move(sample));
}

model::ThresholdVerdict threshold(std::string text, double value, bool passed) {
  model::ThresholdVerdict made;
  made.text = std::move(text);
  made.value = value;
  made.samples = 1000;
  made.judged = true;
  made.passed = passed;
  if (!passed) made.failed_at = 12s;
  return made;
}

model::RunResult run(std::string job) {
  model::RunResult made;
  made.job = std::move(job);
  made.version = "0.1.0";
  made.seed = 42;
  made.started = 1'700'000'000'250ms;
  made.elapsed = 30s;
  return made;
}

model::WorkflowResult workflow(std::string name) {
  model::WorkflowResult made;
  made.name = std::move(name);
  made.state = model::WorkflowState::kCompleted;
  made.elapsed = 30s;
  made.vus = 100;
  made.peak_vus = 100;
  made.iterations = 42'734;
  made.iteration_time.record(70ms, 42'734);
  made.cores = {{.busy = 17s, .elapsed = 30s}, {.busy = 21s, .elapsed = 30s}};
  for (std::uint32_t second = 0; second != 3; ++second) {
    made.series.push_back({.second = second, .vus = 100, .iterations = 1424, .dropped = 0});
  }
  return made;
}

}  // namespace

model::RunResult passed() {
  model::RunResult made = run("shop.yaml");
  made.reason = "the run was completed and its 2 thresholds hold";
  model::WorkflowResult shop = workflow("browse");
  shop.steps = {step("login", 42'734, 0, 2100us), step("catalog", 42'734, 0, 850us), step("cart", 42'736, 0, 1400us)};
  shop.steps[0].checks = {{"status: 200", 42'734, 0}, {"json.token: exists", 42'734, 0}};
  model::StepResult think = step("think-1", 42'734, 0, 1s);
  think.role = model::StepRole::kAction;
  think.kind = "think";
  shop.steps.push_back(std::move(think));
  made.workflows = {std::move(shop)};
  made.thresholds = {threshold("latency p95 < 300ms", 0.00812, true), threshold("failed rate < 1%", 0, true)};
  return made;
}

model::RunResult marked() {
  model::RunResult made = run("checkout.yaml");
  made.verdict = model::Verdict::kFailed;
  made.exit_code = 99;
  made.reason = "2 of 4 thresholds failed, first 'latency p95 < 300ms'";
  model::WorkflowResult shop = workflow("checkout");
  shop.open = true;
  shop.max_vus = 50;
  shop.peak_vus = 50;
  shop.arrivals = 30'000;
  shop.dropped = 12;
  shop.queued = 2'411;
  shop.iterations = 29'975;
  shop.failed_iterations = 2'101;
  shop.interrupted = 13;
  fill(shop.lateness, 29'988, 40us);
  shop.steps = {step("GET /", 29'900, 88, 160ms), step("POST /cart/items/checkout/confirm", 27'000, 1'913, 120ms)};
  for (model::StepResult& each : shop.steps) fill(each.service, each.ok + each.failed, 20ms);
  shop.steps[0].phases[static_cast<std::size_t>(model::Phase::kWait)].record(19ms, 29'988);
  shop.steps[1].checks = {{"status: 200", 27'000, 1'913}, {"json.order.id: exists", 26'999, 1}};
  shop.steps[1].statuses = {{200, 27'000}, {503, 1'700}};
  add_errors(shop.steps[0], model::ErrorClass::kConnect, 88, "connection refused by 127.0.0.1:8080");
  add_errors(shop.steps[1], model::ErrorClass::kStatus, 1'700, "status 503, expected 200..399");
  add_errors(shop.steps[1], model::ErrorClass::kTimeout, 213,
             "no answer within 10s; the request was sent in full and the connection stayed open, the last byte of an "
             "answer came 9.2s before, and this sentence goes on for much longer than anyone would care to read");
  model::UserMetric size{};
  size.name = "basket size";
  size.count = 1000;
  size.sum = 4200;
  size.min = 1;
  size.max = 19;
  size.values.record(4, 1000);
  model::UserMetric coupons{};
  coupons.name = "coupon used";
  coupons.type = model::MetricType::kRate;
  coupons.count = 1000;
  coupons.trues = 128;
  shop.metrics = {std::move(size), std::move(coupons)};
  model::TaggedResult europe;
  europe.tags = "region=eu";
  europe.ok = 500;
  europe.latency.record(180ms, 500);
  shop.tagged = {std::move(europe)};
  shop.notes = {{"tags beyond the first 200 combinations count as \"other\"", 1}, {"DNS answered anew", 31}};
  made.workflows = {std::move(shop)};
  made.thresholds = {threshold("latency p95 < 300ms", 0.481, false), threshold("failed rate < 1%", 0.0339, false),
                     threshold("requests rate > 100", 1963.3, true)};
  made.thresholds[0].window = 10s;
  made.thresholds[1].where = "step=POST /cart/items/checkout/confirm";
  made.thresholds.emplace_back();
  made.thresholds.back().text = "latency p99 < 1s";
  made.thresholds.back().where = "step=refund";
  made.thresholds.back().samples = 7;
  made.marks = {{"dropped",
                 "12 of 30,000 arrivals (0.04%) were dropped: the server saw less than the load asked for, and the "
                 "latency of what was dropped is not in the figures; raise max_vus, or use 'late: queue'"},
                {"max-vus",
                 "2,411 of 30,000 arrivals (8.0%) had to wait for a free VU, since all 50 (max_vus) were in use: "
                 "latency includes that wait; raise max_vus, or look for what made the server slow"}};
  return made;
}

model::RunResult wide() {
  model::RunResult made = run(std::string(200, 'j'));
  made.reason = "the run was completed and one_very_long_word_" + std::string(120, 'w') + " came of it";
  made.elapsed = 100h;
  model::WorkflowResult first = workflow("a workflow with a name that takes more than one line of any terminal at all");
  first.elapsed = 100h;
  first.peak_vus = 50'000;
  first.iterations = 98'765'432'109;
  first.steps = {step("GET /api/v2/customers/{id}/orders/{order}/items?expand=everything", 9'876'543'210'987, 12, 1us),
                 step("注文を確定する手続きのための長い名前", 1, 0, 59min),
                 step("\x1b[31mred\n\xff", 999'999, 1, 12us)};
  first.steps[0].checks = {{"a label with a length that nobody would ever think of " + std::string(90, 'c'),
                            18'446'744'073'709'551'615u / 4, 12}};
  add_errors(first.steps[0], model::ErrorClass::kProtocol, 12, std::string(500, 'x') + "\x1b]0;title\x07");
  model::WorkflowResult second = workflow("second");
  second.open = true;
  second.steps = {step("x", 0, 0, 1ms)};
  second.cores.clear();
  second.state = model::WorkflowState::kTimedOut;
  second.reason = "it ran longer than its time-out of 30s";
  second.arrivals = 42'734;
  for (int i = 0; i != 45; ++i) second.steps.push_back(step("step number " + std::to_string(i), 5, 0, 30ms));
  made.workflows = {std::move(first), std::move(second)};
  made.thresholds = {threshold("latency p95 < 300ms " + std::string(120, 't'), 1e300, false)};
  made.thresholds.front().aborted = true;
  return made;
}

model::RunResult refused() {
  model::RunResult made = run("http://127.0.0.1:81/");
  made.verdict = model::Verdict::kFailed;
  made.exit_code = 99;
  made.reason = "every request failed";
  made.elapsed = 5s;
  model::WorkflowResult only = workflow("default");
  only.elapsed = 5s;
  only.iterations = 5'000;
  only.failed_iterations = 5'000;
  only.cores = {{.busy = 700ms, .elapsed = 5s}};
  only.steps = {step("GET /", 0, 5'000, 90us)};
  add_errors(only.steps[0], model::ErrorClass::kConnect, 5'000, "connection refused by 127.0.0.1:81");
  made.workflows = {std::move(only)};
  made.marks = {{"all-failed",
                 "every one of the 5,000 requests failed, most by connect: the latency is that of failing; "
                 "try one with 'muster try' and see the errors above"}};
  return made;
}

model::RunResult lost() {
  model::RunResult made = passed();
  made.verdict = model::Verdict::kError;
  made.exit_code = 1;
  made.reason = "workflow 'browse' lost its executor process: killed by signal 9";
  made.thresholds.clear();
  made.workflows[0].state = model::WorkflowState::kLost;
  made.workflows[0].elapsed = 12s;
  made.marks = {{"lost",
                 "the executor process was lost (killed by signal 9); the numbers are those of its last snapshot, "
                 "12.0 s after it began to count, and what came after is missing"}};
  return made;
}

model::RunResult nothing() {
  model::RunResult made = run("empty.yaml");
  made.verdict = model::Verdict::kInterrupted;
  made.exit_code = 130;
  made.reason = "the run was interrupted";
  made.elapsed = 120ms;
  return made;
}

}  // namespace muster::report::test
