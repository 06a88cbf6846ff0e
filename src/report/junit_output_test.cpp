#include "report/junit_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "report/test_runs.h"
#include "report/text_fixture.h"

namespace muster::report {
namespace {

using test::count;
using testing::HasSubstr;
using testing::Not;

TEST(Junit, AGoodRunHasNoFailures) {
  const std::string xml = junit_xml(test::passed());
  EXPECT_THAT(
      xml, HasSubstr(R"(<testsuites name="shop.yaml" tests="6" failures="0" errors="0" skipped="0" time="30.000">)"));
  EXPECT_THAT(xml, HasSubstr(R"(<testsuite name="run" tests="3" failures="0" errors="0" skipped="0" time="30.000" )"
                             R"(timestamp="2023-11-14T22:13:20">)"));
  EXPECT_THAT(xml, HasSubstr(R"(<testcase classname="run" name="latency p95 &lt; 300ms" time="0.000"/>)"));
  EXPECT_THAT(xml, HasSubstr(R"(<testcase classname="browse" name="login: json.token: exists" time="0.000"/>)"));
  EXPECT_THAT(xml, HasSubstr(R"(<property name="requests" value="128204"/>)"));
  EXPECT_THAT(xml, Not(HasSubstr("<failure")));
}

TEST(Junit, ThresholdsChecksAndTheVerdictFailWithWhatWasMeasured) {
  const std::string xml = junit_xml(test::marked());
  EXPECT_THAT(xml, HasSubstr(R"(<testcase classname="run" name="verdict" time="30.000">)"));
  EXPECT_THAT(xml,
              HasSubstr(R"(<failure message="measured 481ms over 1,000 samples; failed first 12.0 s after the start")"
                        R"( type="threshold">)"));
  EXPECT_THAT(xml, HasSubstr("did not hold in 1,913 of 28,913 cases"));
  EXPECT_THAT(xml, HasSubstr(R"(<skipped message="not judged; 7 samples were seen"/>)"));
  EXPECT_THAT(xml, HasSubstr(R"(<property name="mark dropped" value="12 of 30,000)"));
  EXPECT_THAT(xml, HasSubstr("status 503, expected 200..399"));
}

TEST(Junit, ThresholdsThatDifferInTheirWindowOnlyHaveNamesOfTheirOwn) {
  auto run = test::marked();
  run.thresholds[1] = run.thresholds[0];
  run.thresholds[1].window = {};
  run.thresholds[2] = run.thresholds[0];
  run.thresholds[2].where = "step=login";
  const std::string xml = junit_xml(run);
  EXPECT_EQ(count(xml, R"(name="latency p95 &lt; 300ms in every 10s")"), 1u);
  EXPECT_EQ(count(xml, R"(name="latency p95 &lt; 300ms")"), 1u);
  EXPECT_EQ(count(xml, R"(name="latency p95 &lt; 300ms in every 10s where step=login")"), 1u);
}

TEST(Junit, WhatCouldNotBeDoneIsAnErrorRatherThanAFailure) {
  const std::string lost = junit_xml(test::lost());
  EXPECT_THAT(lost, HasSubstr(R"(type="lost")"));
  EXPECT_EQ(count(lost, "<error "), 2u) << "the verdict and the workflow";
  EXPECT_EQ(count(junit_xml(test::nothing()), "<error "), 1u);
}

TEST(Junit, HostileNamesStayText) {
  auto run = test::wide();
  run.job = "\"/><script>&\xff\x01\n";
  run.workflows[0].reason = "]]></failure><x y='z'";
  run.workflows[0].state = model::WorkflowState::kFailed;
  const std::string xml = junit_xml(run);
  EXPECT_THAT(xml, HasSubstr("name=\"&quot;/&gt;&lt;script&gt;&amp;\xEF\xBF\xBD\xEF\xBF\xBD&#10;\""));
  EXPECT_THAT(xml, Not(HasSubstr("<script")));
  EXPECT_THAT(xml, Not(HasSubstr("<x ")));
  EXPECT_EQ(std::ranges::count_if(xml, [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n'; }), 0);
  EXPECT_EQ(count(xml, "<testcase "),
            count(xml, "</testcase>") + count(xml, "\"/>\n") - count(xml, "<property ") - count(xml, "<skipped "));
}

}  // namespace
}  // namespace muster::report
