#include "console/colour.h"

#include <gtest/gtest.h>

namespace muster::console {
namespace {

TEST(Colour, TheFlagWinsOverEverything) {
  EXPECT_TRUE(use_colour("always", stdout));
  EXPECT_FALSE(use_colour("never", stdout));
}

TEST(Colour, AFileGetsNone) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  EXPECT_FALSE(use_colour("auto", file));
  std::fclose(file);
}

}  // namespace
}  // namespace muster::console
