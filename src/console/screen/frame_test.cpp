#include "console/screen/frame.h"

#include <gtest/gtest.h>

#include "console/screen/paint.h"

namespace muster::console {
namespace {

TEST(Frame, ClipsTextAtItsEdges) {
  Frame frame({5, 2});
  EXPECT_EQ(frame.put(2, 0, "abcdef"), 5u);
  EXPECT_EQ(frame.put(0, 1, "abcdef", Tone::kPlain, 3), 3u);
  frame.put(9, 0, "x");
  frame.put(0, 9, "x");
  EXPECT_EQ(frame.text(), "  abc\nabc\n");
}

TEST(Frame, GivesWideCharactersTwoCells) {
  Frame frame({6, 1});
  EXPECT_EQ(frame.put(0, 0, "注文x"), 5u);
  EXPECT_EQ(frame.at(1, 0).glyph, 0u);
  EXPECT_EQ(frame.text(), "注文x\n");
  Frame narrow({3, 1});
  narrow.put(0, 0, "注文");
  EXPECT_EQ(narrow.text(), "注\n") << "half a character is none";
}

TEST(Frame, HoldsNoControlCharactersAndNoBrokenText) {
  Frame frame({8, 1});
  frame.put(0, 0,
            "a\x1b\n\xff"
            "e\xcc\x81"
            "b");
  EXPECT_EQ(frame.text(), "a...eb\n");
}

TEST(Frame, MayHaveNoCellsAtAll) {
  Frame frame({0, 0});
  EXPECT_EQ(frame.put(0, 0, "x"), 0u);
  EXPECT_EQ(frame.text(), "");
  EXPECT_EQ(paint(frame, Frame({0, 3}), true), "\x1b[0m\x1b[2J");
}

TEST(Paint, WritesAllOfANewFrame) {
  Frame frame({4, 2});
  frame.put(1, 1, "ab");
  EXPECT_EQ(paint({}, frame, true), "\x1b[0m\x1b[2J\x1b[2;2H\x1b[0mab");
}

TEST(Paint, WritesOnlyWhatChanged) {
  Frame before({10, 3});
  before.put(0, 0, "same");
  before.put(0, 1, "rate 100/s");
  Frame after = before;
  EXPECT_EQ(paint(before, after, true), "");
  after.put(5, 1, "120/s", Tone::kPlain);
  EXPECT_EQ(paint(before, after, true), "\x1b[2;7H\x1b[0m2");
}

TEST(Paint, WritesWholeWideCharacters) {
  Frame before({6, 1});
  before.put(0, 0, "a注b");
  Frame after({6, 1});
  after.put(0, 0, "a文b");
  EXPECT_EQ(paint(before, after, true), "\x1b[1;2H\x1b[0m文");
  after.put(1, 0, "注", Tone::kBold);
  EXPECT_EQ(paint(before, after, true), "\x1b[1;2H\x1b[0;1m注\x1b[0m");
}

TEST(Paint, HasNoColoursWhereNoneAreWanted) {
  Frame frame({4, 1});
  frame.put(0, 0, "x", Tone::kBad);
  frame.put(1, 0, "y", Tone::kGood);
  EXPECT_EQ(paint({}, frame, true), "\x1b[0m\x1b[2J\x1b[1;1H\x1b[0;31mx\x1b[0;32my\x1b[0m");
  EXPECT_EQ(paint({}, frame, false), "\x1b[0m\x1b[2J\x1b[1;1H\x1b[0;1mx\x1b[0my\x1b[0m");
}

}  // namespace
}  // namespace muster::console
