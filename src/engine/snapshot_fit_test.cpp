#include "engine/snapshot_fit.h"

#include <gmock/gmock.h>

#include "model/options.h"
#include "model/result_codec.h"

namespace muster::engine {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

model::WorkflowResult result() {
  model::WorkflowResult made;
  made.name = "w";
  made.provided.push_back({.key = "k", .keep_all = true, .max = 9, .values = {std::string(500, 'v')}});
  model::StepResult& step = made.steps.emplace_back();
  step.name = "a";
  step.ok = 3;
  step.latency.record(5ms, 3);
  step.samples.push_back({.detail = std::string(1'000, 'd'), .request = {}, .response = {}});
  return made;
}

model::WorkflowResult within(const model::WorkflowResult& whole, std::size_t limit) {
  std::string bytes = "from before";
  EXPECT_TRUE(encode_to_fit(whole, limit, bytes));
  EXPECT_LE(bytes.size(), limit);
  auto decoded = model::decode_workflow_result(bytes);
  EXPECT_TRUE(decoded.has_value());
  return decoded ? *decoded : model::WorkflowResult();
}

TEST(SnapshotFit, ASnapshotThatFitsIsWholeAndSaysNothing) {
  const auto fitted = within(result(), 10'000);
  EXPECT_EQ(fitted.steps[0].samples.size(), 1U);
  EXPECT_EQ(fitted.provided.size(), 1U);
  EXPECT_TRUE(fitted.notes.empty());
}

TEST(SnapshotFit, WhatDoesNotFitIsLeftOutAndToldInANote) {
  const auto fitted = within(result(), 1'200);
  EXPECT_TRUE(fitted.steps[0].samples.empty());
  EXPECT_EQ(fitted.provided.size(), 1U) << "what others need stays as long as there is room";
  EXPECT_EQ(fitted.steps[0].latency.count(), 3U);
  ASSERT_EQ(fitted.notes.size(), 1U);
  EXPECT_THAT(fitted.notes[0].first, HasSubstr("it lacks: samples of errors"));
}

TEST(SnapshotFit, CountsAreKeptWhenNothingElseFits) {
  const auto fitted = within(result(), 400);
  EXPECT_EQ(fitted.steps[0].ok, 3U);
  EXPECT_TRUE(fitted.provided.empty());
  EXPECT_THAT(fitted.notes[0].first, HasSubstr("provided values"));
}

TEST(SnapshotFit, TheNoteFindsRoomAmongMany) {
  model::WorkflowResult whole = result();
  for (std::size_t i = 0; i < model::kMaxResultNotes; ++i) model::add_note(whole.notes, "note " + std::to_string(i));
  const auto fitted = within(whole, 2'000);
  EXPECT_EQ(fitted.notes.size(), model::kMaxResultNotes);
  EXPECT_THAT(fitted.notes.back().first, HasSubstr("it lacks"));
}

TEST(SnapshotFit, SaysSoIfNotEvenTheCountsFit) {
  std::string bytes;
  EXPECT_FALSE(encode_to_fit(result(), 10, bytes));
}

}  // namespace
}  // namespace muster::engine
