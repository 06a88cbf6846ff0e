#include "console/starting_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::console {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(StartingFiles, HaveNoPlaceholderLeft) {
  ASSERT_EQ(starting_files().size(), 3u);
  for (const StartingFile& file : starting_files()) {
    const std::string text =
        starting_text(file, {.file = "a.yaml", .target = "https://x.test", .data = "d.csv", .schema = ""});
    EXPECT_THAT(text, Not(HasSubstr("@"))) << file.kind;
    EXPECT_THAT(text, HasSubstr("target: https://x.test "));
    EXPECT_THAT(text, HasSubstr("muster run a.yaml --target embedded"));
    EXPECT_EQ(text.find("d.csv") != std::string::npos, !file.data.empty()) << file.kind;
  }
}

TEST(StartingFiles, OneOfThemIsAScript) {
  const std::string text =
      starting_text(starting_script(),
                    {.file = "a.lua", .target = "https://x.test/\"", .data = "", .schema = "./muster.schema.json"});
  EXPECT_THAT(text, StartsWith("-- A load test"));
  EXPECT_THAT(text, Not(HasSubstr("@")));
  EXPECT_THAT(text, HasSubstr("target = \"https://x.test/\\\"\","));
  EXPECT_THAT(text, HasSubstr("muster run a.lua --target embedded"));
}

TEST(StartingFiles, PointEditorsToASchemaThatIsThere) {
  const std::string text = starting_text(*starting_file("simple"), {.schema = "./muster.schema.json"});
  EXPECT_THAT(text, StartsWith("# yaml-language-server: $schema=./muster.schema.json\n"));
}

TEST(StartingFiles, AnUnknownKindHasNone) {
  EXPECT_EQ(starting_file("nothing"), nullptr);
}

}  // namespace
}  // namespace muster::console
