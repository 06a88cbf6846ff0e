#include "cluster/context.h"

#include <gtest/gtest.h>

#include "cluster/bytes_fixture.h"

namespace muster::cluster {
namespace {

model::Provided provided(std::string key, std::string value, std::uint64_t lamport) {
  model::Provided made;
  made.key = std::move(key);
  made.values = {std::move(value)};
  made.lamport = lamport;
  return made;
}

TEST(LayerValues, MergesWhatThePartsOfAWorkflowProvide) {
  LayerValues values;
  values.add(1, {provided("token", "\"a\"", 1)});
  values.add(0, {provided("user", "1", 1)});
  values.add(1, {provided("token", "\"b\"", 2)});
  ASSERT_EQ(values.rows.size(), 2u);
  EXPECT_EQ(values.rows[0].workflow, 0u);
  ASSERT_EQ(values.rows[1].provided.size(), 1u);
  EXPECT_EQ(values.rows[1].provided[0].values, std::vector<std::string>{"\"b\""});
}

TEST(LayerValues, GivesAWorkflowOnlyWhatItsDependenciesProvided) {
  LayerValues values;
  for (std::uint32_t i = 0; i < 4; ++i) values.add(i, {provided("k", "1", 1)});
  const LayerValues some = values.of({1, 3});
  ASSERT_EQ(some.rows.size(), 2u);
  EXPECT_EQ(some.rows[0].workflow, 1u);
  EXPECT_EQ(some.rows[1].workflow, 3u);
}

TEST(LayerValues, ComeBackAsTheyWere) {
  LayerValues values;
  values.add(2, {provided("k", "1", 7)});
  values.add(5, {provided("l", "[]", 8)});
  const std::string bytes = bytes_of(values);
  const auto decoded = decode_context(bytes);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(bytes_of(*decoded), bytes);
  EXPECT_FALSE(decode_context(bytes.substr(0, bytes.size() - 1)));
  EXPECT_FALSE(decode_context(bytes + '\0'));
  EXPECT_FALSE(decode_context(""));
}

TEST(LayerValues, OutOfOrderAreRefused) {
  LayerValues values;
  values.rows = {{3, {}}, {3, {}}};
  EXPECT_FALSE(decode_context(bytes_of(values)));
}

}  // namespace
}  // namespace muster::cluster
