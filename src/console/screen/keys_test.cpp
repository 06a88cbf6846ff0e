#include "console/screen/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "console/screen/options.h"

namespace muster::console {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = Key::Kind;

Key letter(char character) {
  return {Kind::kCharacter, character};
}

TEST(Keys, AreLettersDigitsAndSigns) {
  EXPECT_THAT(KeyDecoder().feed("q+ 1"), ElementsAre(letter('q'), letter('+'), letter(' '), letter('1')));
}

TEST(Keys, AreArrowsInBothForms) {
  EXPECT_THAT(KeyDecoder().feed("\x1b[A\x1b[B\x1bOC\x1bOD\x1b[1;5C"),
              ElementsAre(Key{Kind::kUp}, Key{Kind::kDown}, Key{Kind::kRight}, Key{Kind::kLeft}, Key{Kind::kRight}));
}

TEST(Keys, AreTabEnterAndInterrupt) {
  EXPECT_THAT(KeyDecoder().feed("\t\x1b[Z\r\x03"),
              ElementsAre(Key{Kind::kTab}, Key{Kind::kBackTab}, Key{Kind::kEnter}, Key{Kind::kInterrupt}));
}

TEST(Keys, MayComeInPieces) {
  KeyDecoder keys;
  EXPECT_THAT(keys.feed("\x1b"), IsEmpty());
  EXPECT_TRUE(keys.pending());
  EXPECT_THAT(keys.feed("["), IsEmpty());
  EXPECT_THAT(keys.feed("C"), ElementsAre(Key{Kind::kRight}));
  EXPECT_FALSE(keys.pending());
}

TEST(Keys, KnowEscapeWhenNothingFollows) {
  KeyDecoder keys;
  keys.feed("\x1b");
  EXPECT_TRUE(keys.idle());
  EXPECT_FALSE(keys.idle());
  keys.feed("\x1b[1");
  EXPECT_FALSE(keys.idle()) << "a sequence that was never finished is no key";
  EXPECT_THAT(keys.feed("q"), ElementsAre(letter('q')));
}

TEST(Keys, PassOverWhatTheyDoNotKnow) {
  EXPECT_THAT(KeyDecoder().feed("\x1b[5~\x1b[<0;12;7M\xc3\xa9\x01\x1bq\x1b]11;rgb:0/0/0\x07s"),
              ElementsAre(letter('s')));
}

TEST(Keys, ComeBackFromASequenceWithoutEnd) {
  KeyDecoder keys;
  keys.feed("\x1b[" + std::string(kMaxKeySequence, ';'));
  EXPECT_FALSE(keys.pending());
  EXPECT_THAT(keys.feed("q"), ElementsAre(letter('q')));
}

RC_GTEST_PROP(Keys, DoNotDependOnHowTheBytesWereCut, (const std::string& bytes)) {
  KeyDecoder whole;
  KeyDecoder single;
  std::vector<Key> one_by_one;
  for (const char byte : bytes) {
    for (const Key& key : single.feed({&byte, 1})) one_by_one.push_back(key);
  }
  RC_ASSERT(whole.feed(bytes) == one_by_one);
}

}  // namespace
}  // namespace muster::console
