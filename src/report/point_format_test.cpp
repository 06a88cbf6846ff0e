#include "report/point_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/test_runs.h"
#include "report/test_schema.h"

namespace muster::report {
namespace {

using Json = nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kPointsSchemaFile = MUSTER_TEST_DATA "/../../docs/points.schema.json";

RunInfo info() {
  RunInfo made;
  made.job = "shop.yaml";
  made.version = "0.1.0";
  made.seed = 42;
  made.started = std::chrono::milliseconds(1'700'000'000'250);
  return made;
}

// All that a run is told as.
std::vector<std::string> told(const PointFormat& format, const model::RunResult& run) {
  std::vector<std::string> lines = {format.first(info())};
  PointSource source;
  source.finish(run, [&](const SecondPoints& points) {
    for (std::string& line : format.lines(points)) lines.push_back(std::move(line));
  });
  if (std::string last = format.last(run, nullptr); !last.empty()) lines.push_back(std::move(last));
  return lines;
}

std::vector<Json> parsed(const std::vector<std::string>& lines) {
  std::vector<Json> made;
  for (const std::string& line : lines) made.push_back(Json::parse(line));
  return made;
}

TEST(Ndjson, EveryLineOfEveryKindOfRunIsAsTheSchemaSays) {
  test::Schema schema(kPointsSchemaFile);
  for (const auto& run :
       {test::passed(), test::marked(), test::wide(), test::refused(), test::lost(), test::nothing()}) {
    for (const std::string& line : told(*ndjson_format(), run)) {
      ASSERT_EQ(line.find('\n'), line.size() - 1) << "one line each";
      const auto problems = schema.problems(Json::parse(line));
      EXPECT_TRUE(problems.empty()) << line << problems.front();
    }
  }
}

TEST(Ndjson, TheSchemaRefusesWhatIsNotInIt) {
  test::Schema schema(kPointsSchemaFile);
  Json line = parsed(told(*ndjson_format(), test::passed())).at(1);
  ASSERT_TRUE(schema.problems(line).empty());
  line["surprise"] = 1;
  EXPECT_FALSE(schema.problems(line).empty());
}

TEST(Ndjson, BeginsWithTheRunAndEndsWithItsSummary) {
  const auto lines = parsed(told(*ndjson_format(), test::marked()));
  EXPECT_EQ(lines.front(), Json({{"type", "start"},
                                 {"schema", "muster.points/1"},
                                 {"version", "0.1.0"},
                                 {"job", "shop.yaml"},
                                 {"seed", 42},
                                 {"started", "2023-11-14T22:13:20.250Z"}}));
  EXPECT_EQ(lines.back()["type"], "summary");
  EXPECT_EQ(lines.back()["summary"]["schema"], "muster.summary/1");
}

TEST(Ndjson, TellsTheWindowOfAThreshold) {
  std::map<std::string, Json> thresholds;
  for (const Json& line : parsed(told(*ndjson_format(), test::marked()))) {
    if (line["type"] == "threshold") thresholds[line["text"]] = line;
  }
  EXPECT_EQ(thresholds["latency p95 < 300ms"]["window_s"], 10.0);
  EXPECT_FALSE(thresholds["failed rate < 1%"].contains("window_s"));
}

TEST(Ndjson, SumsOverItsPointsAreTheSummary) {
  for (const auto& run : {test::passed(), test::marked(), test::refused()}) {
    const auto lines = parsed(told(*ndjson_format(), run));
    const Json& summary = lines.back()["summary"];
    std::map<std::string, std::uint64_t> sums;
    for (const Json& line : lines) {
      if (line["type"] != "workflow") continue;
      for (const char* name : {"requests", "failed", "bytes_in", "bytes_out"}) {
        sums[name] += line[name].get<std::uint64_t>();
      }
    }
    for (const auto& [name, sum] : sums) EXPECT_EQ(sum, summary[name]) << name << " of " << run.job;
  }
}

TEST(Csv, HasOneHeaderAndAsManyCellsInEveryRow) {
  const auto lines = told(*csv_format(), test::marked());
  EXPECT_THAT(lines.front(), StartsWith("type,time,second,late,workflow,step,kind,role,requests,failed,rate,"));
  EXPECT_THAT(lines.front(), HasSubstr(",passed,errors_dns,errors_connect,"));
  const auto cells = std::ranges::count(lines.front(), ',');
  for (const std::string& line : lines) {
    EXPECT_EQ(std::ranges::count(line, ','), cells) << line;
    EXPECT_EQ(line.find('\n'), line.size() - 1);
  }
}

TEST(Csv, TellsTheWindowOfAThreshold) {
  const auto lines = told(*csv_format(), test::marked());
  EXPECT_THAT(lines.front(), HasSubstr(",label,ok,where,window_s,value,"));
  EXPECT_THAT(lines, Contains(HasSubstr(",latency p95 < 300ms,,,10,0.481,")));
  EXPECT_THAT(lines, Contains(HasSubstr(",requests rate > 100,,,,1963.3,")));
}

TEST(Csv, WritesTheSamePointsAsNdjson) {
  const auto run = test::marked();
  std::vector<std::string> types;
  for (const Json& line : parsed(told(*ndjson_format(), run))) types.push_back(line["type"].get<std::string>());
  types.erase(types.begin());
  types.pop_back();
  auto rows = told(*csv_format(), run);
  rows.erase(rows.begin());
  ASSERT_EQ(rows.size(), types.size());
  for (std::size_t i = 0; i != rows.size(); ++i) EXPECT_EQ(rows[i].substr(0, rows[i].find(',')), types[i]);
}

TEST(Csv, NamesFromOutsideAreNoFormulas) {
  auto run = test::passed();
  run.workflows[0].name = "=cmd|'/c calc'!A0";
  EXPECT_THAT(told(*csv_format(), run).at(1), HasSubstr(",'=cmd|'/c calc'!A0,"));
}

}  // namespace
}  // namespace muster::report
