#include "report/html_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "report/html/options.h"
#include "report/test_runs.h"
#include "report/text_fixture.h"

namespace muster::report {
namespace {

using test::count;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

RunInfo info_of(const model::RunResult& run, std::string source = "muster: 1\n") {
  return {
      .job = run.job, .version = run.version, .seed = run.seed, .started = run.started, .source = std::move(source)};
}

// What stands between each `begin` and the next `end`.
std::vector<std::string> between(const std::string& text, std::string_view begin, std::string_view end) {
  std::vector<std::string> found;
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    at += begin.size();
    const std::size_t last = text.find(end, at);
    if (last == std::string::npos) break;
    found.push_back(text.substr(at, last - at));
  }
  return found;
}

std::vector<std::string> sections(const std::string& page) {
  return between(page, "<section id=\"", "\"");
}

std::string report(const model::RunResult& run, const Comparison* comparison = nullptr) {
  return html_report(info_of(run), run, comparison);
}

Comparison comparison_of(std::string text) {
  Comparison made;
  made.before.id = text + "1";
  made.before.job = text;
  made.before.labels = {{text, text}};
  made.after.id = "this run";
  made.verdict = ComparisonVerdict::kWorse;
  made.sentence = "p95 got worse by 12 %" + text;
  made.notes = {"a note" + text};
  made.conditions = {{.text = "p95 +10%" + text, .judged = true, .fired = true, .sentence = "p95 rose by 12 %" + text}};
  Delta worse;
  worse.metric = "p95" + text;
  worse.workflow = "shop" + text;
  worse.step = "login" + text;
  worse.before = 0.1;
  worse.after = 0.112;
  worse.change = 0.12;
  worse.low = 0.098;
  worse.high = 0.14;
  worse.judged = worse.significant = worse.worse = worse.headline = true;
  Delta failed;
  failed.metric = "failed";
  failed.unit = DeltaUnit::kShare;
  failed.relative = false;
  failed.change = 0.001;
  failed.low = -0.001;
  failed.high = 0.003;
  failed.judged = true;
  Delta unjudged;
  unjudged.metric = "max";
  unjudged.change = std::numeric_limits<double>::quiet_NaN();
  made.deltas = {worse, failed, unjudged};
  return made;
}

TEST(HtmlReport, TellsAGoodRun) {
  const std::string page = report(test::passed());
  EXPECT_THAT(sections(page), ElementsAre("thresholds", "timeline", "distribution", "workflows", "steps", "checks",
                                          "errors", "environment", "configuration"));
  EXPECT_THAT(page, HasSubstr("<header class=\"verdict good\">"));
  EXPECT_THAT(page, HasSubstr("Passed</p>\n<h1>shop.yaml</h1>"));
  EXPECT_THAT(page, HasSubstr("<time>2023-11-14 22:13:20 UTC</time> · ran 30.0s · muster 0.1.0"));
  EXPECT_THAT(page, HasSubstr("No step failed."));
  EXPECT_THAT(page, Not(HasSubstr("think-1"))) << "a think is no request";
}

TEST(HtmlReport, TellsTheWindowOfAThreshold) {
  auto run = test::marked();
  run.thresholds[1].window = 90s;
  const std::string page = report(run);
  EXPECT_THAT(page, HasSubstr("<code>latency p95 &lt; 300ms</code></th><td>the whole run, in every 10s</td>"));
  EXPECT_THAT(page, HasSubstr("<td>step=POST /cart/items/checkout/confirm, in every 1m30s</td>"));
  EXPECT_THAT(page, HasSubstr("<code>requests rate &gt; 100</code></th><td>the whole run</td>"));
}

TEST(HtmlReport, TellsAnOpenRunThatFailedAndIsMarked) {
  const std::string page = report(test::marked());
  EXPECT_THAT(sections(page),
              ElementsAre("thresholds", "timeline", "distribution", "workflows", "steps", "phases", "checks", "errors",
                          "metrics", "tags", "notes", "environment", "configuration"));
  EXPECT_THAT(page, HasSubstr("<header class=\"verdict bad\">"));
  EXPECT_THAT(page, HasSubstr("Read these numbers with care"));
  EXPECT_THAT(page, HasSubstr("<strong>max-vus</strong>"));
  EXPECT_THAT(page, HasSubstr("<dt>Dropped</dt><dd class=\"value\">0.04%</dd>"));
  EXPECT_THAT(page, HasSubstr("Service p95"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">region=eu</th>"));
}

TEST(HtmlReport, TellsRunsThatCameToNothing) {
  const std::string page = report(test::nothing());
  EXPECT_THAT(sections(page), ElementsAre("errors", "environment", "configuration"));
  EXPECT_THAT(page, HasSubstr("<header class=\"verdict warn\">"));
  EXPECT_THAT(page, HasSubstr("No requests were made."));
  EXPECT_THAT(report(test::lost()), HasSubstr("killed by signal 9"));
  EXPECT_THAT(report(test::refused()), HasSubstr("connection refused by 127.0.0.1:81"));
}

TEST(HtmlReport, TellsTheComparisonWithAnEarlierRun) {
  const Comparison comparison = comparison_of("");
  const std::string page = report(test::passed(), &comparison);
  EXPECT_THAT(sections(page), testing::Contains("comparison"));
  EXPECT_THAT(page, HasSubstr("Against 1: p95 got worse by 12 %"));
  EXPECT_THAT(page, HasSubstr("<td class=\"bad\">worse</td><th scope=\"row\">p95</th><td>shop · login</td>"));
  EXPECT_THAT(page, HasSubstr(">+12.0%</td>"));
  EXPECT_THAT(page, HasSubstr("<small>+9.8%"));
  EXPECT_THAT(page, HasSubstr("2 more figures without a clear change"));
  EXPECT_THAT(page, HasSubstr("−0.10 points to +0.30 points"));
  EXPECT_THAT(page, HasSubstr("not judged"));
  EXPECT_THAT(page, HasSubstr("<b class=\"bad\">fails the run</b> <code>p95 +10%</code> p95 rose by 12 %"));
}

TEST(HtmlReport, AChangeThatRoundsToNothingHasNoDirection) {
  Comparison comparison = comparison_of("");
  comparison.deltas[0].change = -0.00001;
  const std::string page = report(test::passed(), &comparison);
  EXPECT_THAT(page, HasSubstr(">±0.00%</td>"));
  EXPECT_THAT(page, Not(HasSubstr("−0.00")));
}

TEST(HtmlReport, ForbidsEveryRequestAndEveryScriptButItsOwn) {
  const std::string page = report(test::marked());
  const std::string policy = between(page, "Content-Security-Policy\" content=\"", "\"").at(0);
  EXPECT_THAT(policy, testing::StartsWith("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  for (const auto& [element, directive] : {std::pair("style", "style-src"), std::pair("script", "script-src")}) {
    const auto parts = between(page, std::string("<") + element + ">", std::string("</") + element + ">");
    ASSERT_EQ(parts.size(), 1u) << element;
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    EVP_Digest(parts[0].data(), parts[0].size(), digest.data(), &size, EVP_sha256(), nullptr);
    std::array<unsigned char, 2 * EVP_MAX_MD_SIZE> text{};
    EVP_EncodeBlock(text.data(), digest.data(), static_cast<int>(size));
    EXPECT_THAT(policy, HasSubstr(std::string(directive) + " 'sha256-" + reinterpret_cast<const char*>(text.data())));
  }
  EXPECT_EQ(count(page, " style=\""), 0u) << "the policy would not apply it";
  EXPECT_EQ(count(page, " src="), 0u);
  EXPECT_EQ(count(page, "https://"), 0u);
  EXPECT_EQ(count(page, "http://"), count(page, "http://www.w3.org/2000/svg")) << "names of XML only";
}

// Every text of a result that somebody else may have written.
void spoil(model::RunResult& run, const std::string& text) {
  run.job = run.version = run.reason = text;
  for (model::Mark& mark : run.marks) mark = {text, text};
  for (model::ThresholdVerdict& verdict : run.thresholds) verdict.text = verdict.where = text;
  for (model::WorkflowResult& workflow : run.workflows) {
    workflow.name = workflow.reason = text;
    for (auto& note : workflow.notes) note.first = text;
    for (model::UserMetric& metric : workflow.metrics) metric.name = text;
    for (model::TaggedResult& tagged : workflow.tagged) tagged.tags = text;
    for (model::StepResult& step : workflow.steps) {
      step.name = step.kind = text;
      step.tags = {{text, text}};
      for (model::CheckResult& check : step.checks) check.label = text;
      for (model::ErrorSample& sample : step.samples) sample.detail = sample.request = sample.response = text;
    }
  }
}

TEST(HtmlReport, NoTextOfTheRunBecomesHtml) {
  const std::string hostile = "</script></style></pre></title><img src=x onerror=alert(1)>\"'&<!--";
  model::RunResult run = test::marked();
  run.workflows.push_back(test::passed().workflows[0]);
  run.workflows[0].steps[0].phases[3].record(1ms, 5);
  spoil(run, hostile);
  const Comparison comparison = comparison_of(hostile);
  const std::string page = html_report(info_of(run, hostile + "\n" + hostile), run, &comparison, {{hostile, hostile}});
  EXPECT_EQ(count(page, "<img"), 0u);
  EXPECT_EQ(count(page, "<!--"), 0u);
  EXPECT_EQ(count(page, "</script>"), 2u) << "the data and the script";
  EXPECT_EQ(count(page, "</style>"), 1u);
  EXPECT_EQ(count(page, "</title>"), count(page, "<title>"));
  EXPECT_EQ(count(page, "<pre"), count(page, "</pre>"));
  EXPECT_EQ(count(page, "\"'&<"), 0u);
  EXPECT_GT(count(page, "&lt;img src=x onerror=alert(1)&gt;"), 40u) << "it is shown as text";
}

TEST(HtmlReport, ShowsNoCredentialsOfTheConfiguration) {
  const model::RunResult run = test::passed();
  const std::string page =
      html_report(info_of(run, "target: https://ada:hunter2@shop.test\nauth: { basic: 'ada:hunter2' }\n"), run);
  EXPECT_THAT(page, Not(HasSubstr("hunter2")));
  EXPECT_THAT(page, HasSubstr("auth: { basic: &#39;***&#39; }"));
}

TEST(HtmlReport, StaysSmallWhateverTheResult) {
  model::RunResult run = test::passed();
  model::WorkflowResult& workflow = run.workflows[0];
  const model::StepResult step = workflow.steps[0];
  for (int i = 0; i != 3'000; ++i) {
    workflow.notes.emplace_back("note", 1);
    workflow.tagged.push_back({.tags = "a=b", .ok = 1, .failed = 0, .latency = {}});
    workflow.steps.push_back(step);
    if (i >= 100) continue;
    for (const model::ErrorClass error : {model::ErrorClass::kReset, model::ErrorClass::kStatus}) {
      workflow.steps.back().samples.push_back(
          {.error = error, .at = 1s, .detail = "x", .request = std::string(60'000, 'q'), .response = {}});
    }
  }
  const std::string page = html_report(info_of(run, std::string(10'000'000, '#')), run);
  EXPECT_LT(page.size(), 5'000'000u);
  EXPECT_THAT(page, HasSubstr("Charts show the 200 busiest steps"));
  EXPECT_THAT(page, HasSubstr("the first 4,096 of 60,000 bytes"));
  EXPECT_THAT(page, HasSubstr("the first 262,144 of 10,000,000 bytes"));
  EXPECT_EQ(count(page, "<details><summary>"), html::kMaxExamples);
}

}  // namespace
}  // namespace muster::report
