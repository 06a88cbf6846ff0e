#include "base/escapes.h"

#include <gtest/gtest.h>

namespace muster::base {
namespace {

TEST(Escapes, LetNoControlCharacterReachATerminal) {
  EXPECT_EQ(one_line("\x1B[2Jred\r\nnext\x7F\a\b"), "\\x1b[2Jred\\r\\nnext\\x7f\\x07\\x08");
  EXPECT_EQ(one_line("\u009B31m"), "\\xc2\\x9b31m") << "C1";
  EXPECT_EQ(one_line(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(one_line("x\u202Ey\u200Bz\uFEFF"), "x\\xe2\\x80\\xaey\\xe2\\x80\\x8bz\\xef\\xbb\\xbf") << "they hide text";
}

TEST(Escapes, LeaveTextAsItIs) {
  EXPECT_EQ(one_line("{\"a\":\t'\\u00fc'} \u00a0\u00fc\u20ac\U0001F600"),
            "{\"a\":\t'\\u00fc'} \u00a0\u00fc\u20ac\U0001F600");
  EXPECT_EQ(one_line(""), "");
}

TEST(Escapes, ShowBytesThatAreNoText) {
  EXPECT_EQ(one_line("\xFF\xC3x\xC3"), "\\xff\\xc3x\\xc3");
}

}  // namespace
}  // namespace muster::base
