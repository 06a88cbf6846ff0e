#include "store/data_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace muster::store {
namespace {

using ::testing::HasSubstr;

base::Expected<std::string> with(const std::map<std::string, std::string>& variables) {
  return history_file([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(DataFolder, IsTheUsersOwnUnlessToldOtherwise) {
  EXPECT_EQ(*with({{"HOME", "/users/ada"}}), "/users/ada/.local/share/muster/runs.db");
  EXPECT_EQ(*with({{"HOME", "/users/ada"}, {"XDG_DATA_HOME", "/data/ada/"}}), "/data/ada/muster/runs.db");
  EXPECT_EQ(*with({{"HOME", "/users/ada"}, {"XDG_DATA_HOME", "/d"}, {"MUSTER_DATA", "here"}}), "here/runs.db");
}

TEST(DataFolder, PassesOverWhatTheSpecificationCallsInvalid) {
  EXPECT_EQ(*with({{"HOME", "/users/ada"}, {"XDG_DATA_HOME", "relative"}, {"MUSTER_DATA", ""}}),
            "/users/ada/.local/share/muster/runs.db");
  EXPECT_EQ(*with({{"HOME", "/"}}), "//.local/share/muster/runs.db");
}

TEST(DataFolder, SaysSoWhereThereIsNone) {
  EXPECT_THAT(with({}).error().message, HasSubstr("MUSTER_DATA"));
  EXPECT_FALSE(with({{"HOME", ""}}).has_value());
}

}  // namespace
}  // namespace muster::store
