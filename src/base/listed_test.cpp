#include "base/listed.h"

#include <gtest/gtest.h>

namespace muster::base {
namespace {

TEST(Listed, TheLastNameIsJoinedByAWord) {
  EXPECT_EQ(listed(std::vector<std::string>{}, "or"), "");
  EXPECT_EQ(listed(std::vector<std::string>{"a"}, "or"), "a");
  EXPECT_EQ(listed(std::vector<std::string_view>{"a", "b"}, "or"), "a or b");
  EXPECT_EQ(listed(std::vector<std::string>{"a", "b", "c"}, "and"), "a, b and c");
}

TEST(Listed, NamesCanStandInQuotes) {
  EXPECT_EQ(listed_quoted(std::vector<std::string>{}, "or"), "");
  EXPECT_EQ(listed_quoted(std::vector<std::string_view>{"a", "b"}, "or"), "'a' or 'b'");
}

}  // namespace
}  // namespace muster::base
