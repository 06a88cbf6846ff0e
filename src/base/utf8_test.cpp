#include "base/utf8.h"

#include <gtest/gtest.h>

namespace muster::base {
namespace {

TEST(Utf8, SequencesHaveTheirLengthAndNumber) {
  const std::pair<std::string_view, std::uint32_t> kGood[] = {{"a", 'a'},
                                                              {"\x7F", 0x7F},
                                                              {"\xC2\x80", 0x80},
                                                              {"\xDF\xBF", 0x7FF},
                                                              {"\xE0\xA0\x80", 0x800},
                                                              {"\xED\x9F\xBF", 0xD7FF},
                                                              {"\xEE\x80\x80", 0xE000},
                                                              {"\xEF\xBF\xBF", 0xFFFF},
                                                              {"\xF0\x90\x80\x80", 0x10000},
                                                              {"\xF4\x8F\xBF\xBF", 0x10FFFF}};
  for (const auto& [sequence, number] : kGood) {
    ASSERT_EQ(utf8_length(std::string(sequence) + "x"), sequence.size()) << number;
    EXPECT_EQ(code_point(sequence), number);
    std::string made;
    append_utf8(made, number);
    EXPECT_EQ(made, sequence) << number;
  }
}

TEST(Utf8, OverlongFormsSurrogatesAndPartsAreNone) {
  for (const std::string_view wrong :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xC2", "\xE2\x82", "\xF0\x90\x80", "\xC2x", "\xE2\x82x", "\xF0\x90\x80x"}) {
    EXPECT_EQ(utf8_length(wrong), 0u) << testing::PrintToString(wrong);
  }
}

TEST(Utf8, BeginningsEndWhereACharacterDoes) {
  EXPECT_EQ(utf8_beginning("abc", 3), "abc");
  EXPECT_EQ(utf8_beginning("abcd", 3), "abc");
  const std::string_view kText = "a\xC2\xB5\xE2\x82\xAC\xF0\x90\x80\x80";
  EXPECT_EQ(utf8_beginning(kText, 2), kText.substr(0, 1));
  EXPECT_EQ(utf8_beginning(kText, 3), kText.substr(0, 3));
  EXPECT_EQ(utf8_beginning(kText, 5), kText.substr(0, 3));
  EXPECT_EQ(utf8_beginning(kText, 9), kText.substr(0, 6));
  EXPECT_EQ(utf8_beginning(kText, 10), kText);
  EXPECT_EQ(utf8_beginning(kText, 0), "");
  EXPECT_EQ(utf8_beginning(std::string(9, '\x80'), 8).size(), 5u) << "what is no UTF-8 loses little";
}

}  // namespace
}  // namespace muster::base
