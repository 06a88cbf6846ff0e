#include "base/closest.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace muster::base {
namespace {

constexpr std::array<std::string_view, 5> kKeys{"iterations", "vus", "rate", "timeout", "for"};

TEST(Closest, FindsTheNameThatWasMistyped) {
  EXPECT_EQ(closest("itertions", kKeys), "iterations");
  EXPECT_EQ(closest("Rate", kKeys), "rate");
  EXPECT_EQ(closest("time_out", kKeys), "timeout");
  EXPECT_EQ(closest("raet", kKeys), "rate");
}

TEST(Closest, SaysNothingWhereNoNameIsNear) {
  EXPECT_EQ(closest("banana", kKeys), std::nullopt);
  EXPECT_EQ(closest("", kKeys), std::nullopt);
  EXPECT_EQ(closest("x", kKeys), std::nullopt);
  EXPECT_EQ(closest(std::string(1000, 'r'), kKeys), std::nullopt);
}

TEST(Closest, PrefersTheFirstOfEquals) {
  const std::vector<std::string> names{"", "cat", "bat"};
  EXPECT_EQ(closest("aat", names), "cat");
}

TEST(Closest, WritesThePhraseForMessages) {
  EXPECT_EQ(did_you_mean("vsu", kKeys), "; did you mean 'vus'?");
  EXPECT_EQ(did_you_mean("banana", kKeys), "");
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
