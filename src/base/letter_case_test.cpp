#include "base/letter_case.h"

#include <gtest/gtest.h>

namespace muster::base {
namespace {

TEST(LetterCase, NamesAreEqualWhateverTheCaseOfTheirLetters) {
  EXPECT_TRUE(equal_ignoring_case("Content-TYPE", "content-type"));
  EXPECT_TRUE(equal_ignoring_case("", ""));
  EXPECT_FALSE(equal_ignoring_case("host", "hosts"));
}

TEST(LetterCase, OnlyLettersHaveACase) {
  // These differ in the bit that tells upper from lower case.
  EXPECT_FALSE(equal_ignoring_case("@", "`"));
  EXPECT_FALSE(equal_ignoring_case("[", "{"));
  EXPECT_FALSE(equal_ignoring_case("\xC0", "\xE0"));
  EXPECT_EQ(lower("AZ@[\xC0"), "az@[\xC0");
  EXPECT_EQ(upper("az`{\xE0"), "AZ`{\xE0");
}

}  // namespace
}  // namespace muster::base
