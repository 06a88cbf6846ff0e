#include "store/packed_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "model/run_codec.h"
#include "store/test_runs.h"

namespace muster::store {
namespace {

using ::testing::HasSubstr;

std::string encoded(const model::RunResult& run) {
  std::string bytes;
  model::encode(run, bytes);
  return bytes;
}

TEST(PackedRun, ComesBackAsItWas) {
  const model::RunResult run = test::small_run("shop", 1);
  const auto packed = pack(run);
  ASSERT_TRUE(packed.has_value());
  EXPECT_TRUE(looks_packed(*packed));
  EXPECT_LT(packed->size(), encoded(run).size());
  const auto again = unpack(*packed, "it");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(encoded(*again), encoded(run));
}

TEST(PackedRun, NoPrefixIsRead) {
  const std::string packed = *pack(test::small_run("shop", 1));
  for (std::size_t size = 0; size < packed.size(); size += 5) {
    ASSERT_FALSE(unpack(std::string_view(packed).substr(0, size), "it").has_value()) << size;
  }
}

TEST(PackedRun, BytesAfterItsEndAreNoticed) {
  const std::string packed = *pack(test::small_run("shop", 1));
  EXPECT_THAT(unpack(packed + 'x', "it").error().message, HasSubstr("more bytes follow its end"));
  EXPECT_FALSE(unpack(packed + packed, "it").has_value());
}

RC_GTEST_PROP(PackedRun, DamageIsNoticed, ()) {
  std::string packed = *pack(test::small_run("shop", 1));
  const auto at = *rc::gen::inRange<std::size_t>(0, packed.size());
  const char before = packed[at];
  packed[at] = static_cast<char>(*rc::gen::inRange(0, 256));
  RC_PRE(packed[at] != before);
  const auto read = unpack(packed, "it");
  if (read) RC_ASSERT(encoded(*read) == encoded(test::small_run("shop", 1)));
}

TEST(PackedRun, SaysWhatIsWrong) {
  EXPECT_THAT(unpack("SQLite format 3", "the file 'x'").error().message,
              HasSubstr("the file 'x' cannot be read: it does not begin as"));
  std::string packed = *pack(test::small_run("shop", 1));
  packed[12] = 9;
  EXPECT_THAT(unpack(packed, "it").error().message, HasSubstr("newer muster"));
}

TEST(PackedRun, ASizeThatCannotBeThereAllocatesNothing) {
  const std::string bomb = std::string("\x93muster-run\n") + '\x01' + "\xff\xff\xff\x3f" + "tiny";
  EXPECT_THAT(unpack(bomb, "it").error().message, HasSubstr("cut short"));
}

}  // namespace
}  // namespace muster::store
