// Holds docs/summary.schema.json against what summary_json() writes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/compare.h"
#include "report/fail_if.h"
#include "report/made_up_runs.h"
#include "report/summary_json.h"
#include "report/test_runs.h"
#include "report/test_schema.h"

namespace muster::report {
namespace {

using Json = nlohmann::json;

constexpr const char* kSummarySchemaFile = MUSTER_TEST_DATA "/../../docs/summary.schema.json";

TEST(SummarySchema, DescribesEveryKindOfRunExactly) {
  test::Schema schema(kSummarySchemaFile);
  for (const auto& run :
       {test::passed(), test::marked(), test::wide(), test::refused(), test::lost(), test::nothing()}) {
    const std::vector<std::string> problems = schema.problems(Json::parse(summary_json(run)));
    EXPECT_TRUE(problems.empty()) << run.job << ": " << problems.front();
  }
}

TEST(SummarySchema, DescribesComparisons) {
  test::Schema schema(kSummarySchemaFile);
  model::RunResult before = test::made_up({.seed = 1});
  model::RunResult after = test::made_up({.tail = 1.2, .seed = 2});
  after.id = "r-20261115-k3f8";
  Comparison comparison = compare(before, identity_of(before), after, identity_of(after));
  comparison.before.labels = {{"branch", "main"}};
  judge_conditions(comparison, {*parse_fail_if("p95 +10%"), *parse_fail_if("max step=none +1s")});
  const Json document = Json::parse(summary_json(after, &comparison));
  const std::vector<std::string> problems = schema.problems(document);
  EXPECT_TRUE(problems.empty()) << problems.front();
  EXPECT_EQ(document["comparison"]["verdict"], "worse");
  EXPECT_EQ(document["comparison"]["conditions"][0]["fired"], true);
  EXPECT_EQ(document["id"], "r-20261115-k3f8");
}

TEST(SummarySchema, RefusesWhatIsNotInIt) {
  test::Schema schema(kSummarySchemaFile);
  Json document = Json::parse(summary_json(test::marked()));
  document["surprise"] = 1;
  document["latency_us"].erase("p99");
  document["workflows"][0]["steps"][0]["samples"][0]["class"] = "unheard of";
  EXPECT_EQ(schema.problems(document).size(), 3u);
}

}  // namespace
}  // namespace muster::report
