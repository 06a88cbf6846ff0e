#include "report/junit_output.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "model/window_words.h"
#include "report/atomic_file.h"
#include "report/clean_text.h"
#include "report/figures.h"
#include "report/rfc3339.h"
#include "report/threshold_text.h"
#include "report/totals.h"

namespace muster::report {
namespace {

enum class Outcome : std::uint8_t { kPassed, kFailed, kError, kSkipped };

struct Case {
  std::string name;
  Outcome outcome = Outcome::kPassed;
  std::string type;     // of what went wrong: "threshold", "check", "lost"
  std::string message;  // one sentence
  base::Duration time{};
};

struct Suite {
  std::string name;
  base::Duration began{};  // since 1970
  base::Duration time{};
  std::vector<std::pair<std::string, std::string>> properties;
  std::vector<Case> cases;
  std::string text;

  std::size_t count(Outcome outcome) const {
    std::size_t number = 0;
    for (const Case& each : cases) number += each.outcome == outcome ? 1U : 0U;
    return number;
  }
};

std::string milliseconds(base::Duration duration) {
  return fmt::format("{:.3f} ms", base::seconds(duration) * 1e3);
}

Case verdict_case(const model::RunResult& run) {
  Case made{.name = "verdict", .type = std::string(model::to_text(run.verdict)), .message = run.reason};
  made.time = run.elapsed;
  switch (run.verdict) {
    case model::Verdict::kPassed:
      break;
    case model::Verdict::kFailed:
      made.outcome = Outcome::kFailed;
      break;
    case model::Verdict::kInterrupted:
    case model::Verdict::kError:
      made.outcome = Outcome::kError;
      break;
  }
  return made;
}

Case threshold_case(const model::ThresholdVerdict& verdict) {
  Case made{.name = verdict.text + model::window_words(verdict.window), .type = "threshold", .message = {}};
  if (!verdict.where.empty()) made.name += fmt::format(" where {}", verdict.where);
  if (!verdict.judged) {
    made.outcome = Outcome::kSkipped;
    made.message = fmt::format("not judged; {} samples were seen", grouped(verdict.samples));
  } else if (!verdict.passed) {
    made.outcome = Outcome::kFailed;
    made.message = fmt::format("measured {} over {} samples; failed first {:.1f} s after the start{}",
                               measured_text(verdict, true), grouped(verdict.samples), base::seconds(verdict.failed_at),
                               verdict.aborted ? ", and ended the run" : "");
  }
  return made;
}

Case check_case(const model::StepResult& step, const model::CheckResult& check) {
  Case made{.name = fmt::format("{}: {}", step.name, check.label), .type = "check", .message = {}};
  const std::uint64_t all = check.ok + check.failed;
  if (all == 0) {
    made.outcome = Outcome::kSkipped;
    made.message = "never checked";
  } else if (check.failed > 0) {
    made.outcome = Outcome::kFailed;
    made.message = fmt::format("did not hold in {} of {} cases ({})", grouped(check.failed), grouped(all),
                               percentage(check.failed, all));
  }
  return made;
}

Case state_case(const model::WorkflowResult& workflow) {
  Case made{.name = "completed", .type = std::string(model::to_text(workflow.state)), .message = workflow.reason};
  made.time = workflow.elapsed;
  if (workflow.state == model::WorkflowState::kCompleted) return made;
  made.outcome = workflow.state == model::WorkflowState::kSkipped ? Outcome::kSkipped : Outcome::kError;
  if (made.message.empty()) made.message = fmt::format("the workflow is {}", made.type);
  return made;
}

void put_totals(Suite& suite, const Totals& sum) {
  suite.properties.emplace_back("requests", std::to_string(sum.requests));
  suite.properties.emplace_back("failed", std::to_string(sum.failed));
  suite.properties.emplace_back("rate", fmt::format("{:.3f}/s", sum.rate()));
  if (sum.latency.empty()) return;
  suite.properties.emplace_back("latency p50", milliseconds(sum.latency.quantile(0.50)));
  suite.properties.emplace_back("latency p95", milliseconds(sum.latency.quantile(0.95)));
  suite.properties.emplace_back("latency p99", milliseconds(sum.latency.quantile(0.99)));
  suite.properties.emplace_back("latency max", milliseconds(sum.latency.max()));
}

Suite run_suite(const model::RunResult& run) {
  Suite suite{.name = "run", .began = run.started, .time = run.elapsed, .properties = {}, .cases = {}, .text = {}};
  suite.properties = {{"muster", run.version}, {"job", run.job}, {"seed", std::to_string(run.seed)}};
  suite.properties.emplace_back("verdict", model::to_text(run.verdict));
  suite.properties.emplace_back("reason", run.reason);
  put_totals(suite, totals(run));
  for (const model::Mark& mark : run.marks) suite.properties.emplace_back("mark " + mark.id, mark.text);
  suite.cases.push_back(verdict_case(run));
  for (const model::ThresholdVerdict& verdict : run.thresholds) suite.cases.push_back(threshold_case(verdict));
  return suite;
}

Suite workflow_suite(const model::RunResult& run, const model::WorkflowResult& workflow) {
  Suite suite{.name = workflow.name,
              .began = run.started + truly_began(workflow),
              .time = workflow.elapsed,
              .properties = {},
              .cases = {},
              .text = {}};
  put_totals(suite, totals(workflow));
  suite.cases.push_back(state_case(workflow));
  for (const model::StepResult& step : workflow.steps) {
    for (const model::CheckResult& check : step.checks) suite.cases.push_back(check_case(step, check));
    if (step.role != model::StepRole::kTest) continue;
    suite.text += fmt::format("{}: {} requests, {} failed, p95 {}\n", step.name, grouped(step.ok + step.failed),
                              grouped(step.failed), milliseconds(step.latency.quantile(0.95)));
    for (const model::ErrorSample& sample : step.samples) {
      suite.text +=
          fmt::format("  {} at {:.1f} s: {}\n", model::to_text(sample.error), base::seconds(sample.at), sample.detail);
    }
  }
  return suite;
}

std::string case_xml(const Case& each, std::string_view suite) {
  std::string made = fmt::format(R"(    <testcase classname="{}" name="{}" time="{:.3f}")", xml_text(suite),
                                 xml_text(each.name), base::seconds(each.time));
  const std::string message = xml_text(each.message);
  switch (each.outcome) {
    case Outcome::kPassed:
      return made + "/>\n";
    case Outcome::kSkipped:
      return made + fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", message);
    case Outcome::kFailed:
    case Outcome::kError:
      break;
  }
  const std::string_view element = each.outcome == Outcome::kFailed ? "failure" : "error";
  return made + fmt::format(">\n      <{0} message=\"{1}\" type=\"{2}\">{1}</{0}>\n    </testcase>\n", element, message,
                            xml_text(each.type));
}

std::string suite_xml(const Suite& suite) {
  // The schemas that CI systems check against take whole seconds without a zone; it is UTC.
  const std::string began = rfc3339(suite.began).substr(0, std::string_view("2023-11-14T22:13:20").size());
  std::string made = fmt::format(
      R"(  <testsuite name="{}" tests="{}" failures="{}" errors="{}" skipped="{}" time="{:.3f}" timestamp="{}">)",
      xml_text(suite.name), suite.cases.size(), suite.count(Outcome::kFailed), suite.count(Outcome::kError),
      suite.count(Outcome::kSkipped), base::seconds(suite.time), began);
  made += "\n    <properties>\n";
  for (const auto& [name, value] : suite.properties) {
    made += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", xml_text(name), xml_text(value));
  }
  made += "    </properties>\n";
  for (const Case& each : suite.cases) made += case_xml(each, suite.name);
  if (!suite.text.empty()) made += fmt::format("    <system-out>{}</system-out>\n", xml_text(suite.text));
  return made + "  </testsuite>\n";
}

class JunitOutput final : public Output {
 public:
  explicit JunitOutput(std::string path) : path_(std::move(path)) {}

  base::Expected<void> open(const RunInfo& /*run*/) override { return check_writable(path_); }
  base::Expected<void> write(const model::RunResult& /*snapshot*/) override { return {}; }
  base::Expected<void> finish(const model::RunResult& result) override {
    return write_atomically(path_, junit_xml(result));
  }

 private:
  std::string path_;
};

}  // namespace

OutputKind junit_output() {
  OutputKind kind =
      file_output("junit", "verdict, thresholds and checks as JUnit XML for CI systems, at the end of the run",
                  [](std::string path) { return std::make_unique<JunitOutput>(std::move(path)); });
  kind.example = "junit=report.xml";
  return kind;
}

std::string junit_xml(const model::RunResult& run) {
  std::vector<Suite> suites = {run_suite(run)};
  for (const model::WorkflowResult& workflow : run.workflows) suites.push_back(workflow_suite(run, workflow));
  std::size_t tests = 0;
  std::size_t failed = 0;
  std::size_t errors = 0;
  std::size_t skipped = 0;
  for (const Suite& suite : suites) {
    tests += suite.cases.size();
    failed += suite.count(Outcome::kFailed);
    errors += suite.count(Outcome::kError);
    skipped += suite.count(Outcome::kSkipped);
  }
  std::string made = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n",
      xml_text(run.job), tests, failed, errors, skipped, base::seconds(run.elapsed));
  for (const Suite& suite : suites) made += suite_xml(suite);
  return made + "</testsuites>\n";
}

}  // namespace muster::report
