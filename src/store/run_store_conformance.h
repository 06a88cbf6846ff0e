// What every engine behind RunStore must do, as tests. An engine's own test file gives a factory and instantiates them:
//   INSTANTIATE_TEST_SUITE_P(Sqlite, RunStoreConformance, ::testing::Values(factory));
// The factory opens the same, at first empty, history each time it is called within one test.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "store/run_store.h"
#include "store/test_runs.h"

namespace muster::store {

using OpenStore = std::function<std::unique_ptr<RunStore>()>;
using StoreFactory = std::function<OpenStore()>;  // a fresh, empty history

class RunStoreConformance : public ::testing::TestWithParam<StoreFactory> {
 protected:
  RunStoreConformance() : open_(GetParam()()), store_(open_()) {}

  std::string add(const std::string& job, base::Duration started, std::uint64_t seed = 1, Labels labels = {}) {
    model::RunResult run = test::small_run(job, seed);
    run.started = started;
    RunRecord record = test::record_of(run);
    record.labels = std::move(labels);
    const auto id = store_->add(record, "muster: 1\n", run);
    EXPECT_TRUE(id.has_value()) << id.error().message;
    return id.value_or("");
  }

  std::vector<std::string> ids(const RunQuery& query = {}) {
    std::vector<std::string> found;
    const auto listed = store_->list(query);
    EXPECT_TRUE(listed.has_value()) << listed.error().message;
    if (!listed) return found;
    for (const RunRecord& record : *listed) found.push_back(record.id);
    return found;
  }

  static constexpr base::Duration kNoon = std::chrono::seconds(1'763'208'000);

  OpenStore open_;
  std::unique_ptr<RunStore> store_;
};

TEST_P(RunStoreConformance, GivesBackWhatItWasGiven) {
  const std::string id = add("shop", kNoon, 3, {{"branch", "main"}, {"commit", "abc"}});
  const auto run = open_()->load(id);
  ASSERT_TRUE(run.has_value()) << run.error().message;
  EXPECT_EQ(run->record.id, id);
  EXPECT_EQ(run->result.id, id);
  EXPECT_EQ(run->source, "muster: 1\n");
  EXPECT_EQ(run->record.job, "shop");
  EXPECT_EQ(run->record.started, kNoon);
  EXPECT_EQ(run->record.requests, 150u);
  EXPECT_EQ(run->record.rate, 50);
  EXPECT_EQ(run->record.p95, std::chrono::milliseconds(9));
  EXPECT_GT(run->record.bytes, 100u);
  EXPECT_EQ(run->record.labels, (Labels{{"branch", "main"}, {"commit", "abc"}}));
  EXPECT_EQ(run->result.workflows.at(0).steps.at(0).latency, test::small_run("shop", 3).workflows[0].steps[0].latency);
  EXPECT_EQ(run->result.workflows[0].steps[0].series.size(), 3u);
}

TEST_P(RunStoreConformance, ListsTheNewestFirst) {
  const std::string middle = add("shop", kNoon + std::chrono::hours(1));
  const std::string oldest = add("other", kNoon);
  const std::string newest = add("shop", kNoon + std::chrono::hours(2));
  EXPECT_EQ(ids(), (std::vector{newest, middle, oldest}));
  EXPECT_EQ(ids({.job = "shop", .before = {}}), (std::vector{newest, middle}));
  EXPECT_EQ(ids({.job = "", .before = {}, .skip = 1, .limit = 1}), (std::vector{middle}));
  EXPECT_EQ(ids({.job = "", .before = kNoon + std::chrono::hours(1)}), (std::vector{oldest}));
  EXPECT_TRUE(ids({.job = "nothing", .before = {}}).empty());
}

TEST_P(RunStoreConformance, ListsOnlyRunsThatWereCompletedWhenAsked) {
  int hour = 0;
  const auto add_run = [&](model::Verdict verdict, std::uint64_t failed) {
    model::RunResult run = test::small_run("shop", 1);
    run.started = kNoon + std::chrono::hours(++hour);
    RunRecord record = test::record_of(run);
    record.verdict = verdict;
    record.failed = failed;
    return store_->add(record, "muster: 1\n", run).value_or("");
  };
  const std::string passed = add_run(model::Verdict::kPassed, 0);
  const std::string failed = add_run(model::Verdict::kFailed, 20);
  add_run(model::Verdict::kFailed, 150);
  add_run(model::Verdict::kInterrupted, 0);
  add_run(model::Verdict::kError, 0);
  EXPECT_EQ(ids().size(), 5u);
  EXPECT_EQ(ids({.job = "shop", .before = {}, .completed = true}), (std::vector{failed, passed}));
  EXPECT_EQ(ids({.job = "shop", .before = {}, .skip = 1, .completed = true}), (std::vector{passed}));
}

TEST_P(RunStoreConformance, NamesRunsOfOneMomentApart) {
  std::vector<std::string> given;
  for (int i = 0; i != 20; ++i) given.push_back(add("shop", kNoon));
  std::ranges::sort(given);
  EXPECT_EQ(std::ranges::adjacent_find(given), given.end());
  EXPECT_EQ(given.front(), "r-20251115-ahg0");
}

TEST_P(RunStoreConformance, FindsByTheBeginningOfAnId) {
  const std::string morning = add("shop", kNoon - std::chrono::hours(4));
  const std::string noon = add("shop", kNoon);
  const auto found = [&](std::string_view prefix) {
    std::vector<std::string> list;
    for (const RunRecord& record : store_->find(prefix, 10).value_or(std::vector<RunRecord>{})) {
      list.push_back(record.id);
    }
    return list;
  };
  EXPECT_EQ(found("r-2025"), (std::vector{noon, morning}));
  EXPECT_EQ(found(noon), (std::vector{noon}));
  EXPECT_TRUE(found("r-%").empty());
  EXPECT_TRUE(found("r_2025").empty());
  EXPECT_EQ(store_->find("", 1)->size(), 1u);
}

TEST_P(RunStoreConformance, SaysThatARunIsNotThere) {
  EXPECT_THAT(store_->load("r-20200101-0000").error().message, ::testing::HasSubstr("no run 'r-20200101-0000'"));
}

TEST_P(RunStoreConformance, RemovesWhatIsNamedAndNothingElse) {
  const std::string kept = add("shop", kNoon);
  const std::string gone = add("shop", kNoon + std::chrono::hours(1), 1, {{"branch", "main"}});
  EXPECT_EQ(store_->remove({gone, "r-20200101-0000"}).value_or(99), 1u);
  EXPECT_EQ(ids(), (std::vector{kept}));
  EXPECT_FALSE(store_->load(gone).has_value());
  EXPECT_TRUE(store_->load(kept).has_value());
}

TEST_P(RunStoreConformance, KeepsTheNewestWithinItsBounds) {
  std::vector<std::string> given;
  for (int i = 0; i != 6; ++i) given.push_back(add("shop", kNoon + std::chrono::hours(i)));
  EXPECT_EQ(store_->prune({}).value_or(99), 0u);
  EXPECT_EQ(store_->prune({.runs = 4}).value_or(99), 2u);
  EXPECT_EQ(ids(), (std::vector{given[5], given[4], given[3], given[2]}));
  const std::uint64_t each = store_->load(given[5])->record.bytes;
  EXPECT_EQ(store_->prune({.runs = 4, .bytes = each * 5 / 2}).value_or(99), 2u);
  EXPECT_EQ(ids(), (std::vector{given[5], given[4]}));
  EXPECT_EQ(store_->prune({.runs = 4, .bytes = 1}).value_or(99), 1u) << "the newest stays, however large";
  EXPECT_EQ(store_->prune({.runs = 0}).value_or(99), 0u);
}

TEST_P(RunStoreConformance, CutsASourceThatIsTooLong) {
  model::RunResult run = test::small_run("shop", 1);
  std::string source = "muster: 1\n";
  while (source.size() <= kMaxSourceBytes) source += "# größer\n";
  const auto id = store_->add(test::record_of(run), source, run);
  ASSERT_TRUE(id.has_value()) << id.error().message;
  const auto loaded = store_->load(*id);
  ASSERT_TRUE(loaded.has_value());
  EXPECT_LE(loaded->source.size(), kMaxSourceBytes);
  EXPECT_TRUE(loaded->source.ends_with("too long to keep\n"));
}

TEST_P(RunStoreConformance, TakesAnyTextAsItIs) {
  const std::string odd = "Robert'); DROP TABLE runs;-- \xff ö";
  const std::string id = add(odd, kNoon, 1, {{"note", odd}});
  const auto run = store_->load(id);
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->record.job, odd);
  EXPECT_EQ(run->record.labels, (Labels{{"note", odd}}));
  EXPECT_EQ(ids({.job = odd, .before = {}}), (std::vector{id}));
}

TEST_P(RunStoreConformance, IsSharedByAllWhoOpenIt) {
  const auto other = open_();
  const std::string first = add("shop", kNoon);
  const auto listed = other->list({});
  ASSERT_TRUE(listed.has_value());
  ASSERT_EQ(listed->size(), 1u);
  const model::RunResult run = test::small_run("shop", 2);
  EXPECT_TRUE(other->add(test::record_of(run), "", run).has_value());
  EXPECT_EQ(ids().size(), 2u);
}

}  // namespace muster::store
