#include "base/closest.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace muster::base {
namespace {

constexpr std::array<std::string_view, 5> kNames{"iterations", "vus", "rate", "timeout", "for"};

TEST(Closest, FindsTheNameThatWasMistyped) {
  EXPECT_EQ(closest("itertions", kNames), "iterations");
  EXPECT_EQ(closest("Rate", kNames), "rate");
  EXPECT_EQ(closest("time_out", kNames), "timeout");
  EXPECT_EQ(closest("raet", kNames), "rate");
}

TEST(Closest, SaysNothingWhereNoNameIsNear) {
  EXPECT_EQ(closest("banana", kNames), std::nullopt);
  EXPECT_EQ(closest("", kNames), std::nullopt);
  EXPECT_EQ(closest("x", kNames), std::nullopt);
  EXPECT_EQ(closest(std::string(1000, 'r'), kNames), std::nullopt);
}

TEST(Closest, PrefersTheFirstOfEquals) {
  const std::vector<std::string> names{"", "cat", "bat"};
  EXPECT_EQ(closest("aat", names), "cat");
}

TEST(Closest, WritesThePhraseForMessages) {
  EXPECT_EQ(did_you_mean("vsu", kNames), "; did you mean 'vus'?");
  EXPECT_EQ(did_you_mean("banana", kNames), "");
  const std::vector<std::string> names{"token"};
  EXPECT_EQ(did_you_mean("tokn", names), "; did you mean 'token'?");
}

TEST(Closest, OneSlipIsOneEdit) {
  for (const char* word : {"exists", "Exists", "exist", "exits", "exsits", "existss"}) {
    EXPECT_TRUE(one_slip_apart(word, "exists")) << word;
  }
  for (const char* word : {"", "exit", "existing"}) EXPECT_FALSE(one_slip_apart(word, "exists")) << word;
}

}  // namespace
}  // namespace muster::base
