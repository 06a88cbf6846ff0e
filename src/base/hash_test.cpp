#include "base/hash.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <string>

namespace muster::base {
namespace {

TEST(Hash, Fnv1aGivesThePublishedValues) {
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325u);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8u);
}

TEST(Hash, ANumberIsHashedAsItsBytesFromTheLowestOn) {
  EXPECT_EQ(fnv1a(std::uint64_t{0x0807060504030201}), fnv1a("\x01\x02\x03\x04\x05\x06\x07\x08"));
}

TEST(Hash, TheLastByteReachesTheUpperBits) {
  int differing = 0;
  for (int i = 0; i < 100; ++i) {
    const auto one = hash_of("key:" + std::to_string(i));
    const auto next = hash_of("key:" + std::to_string(i + 1));
    differing += std::popcount((one ^ next) >> 32);
  }
  EXPECT_GT(differing, 100 * 13);
  EXPECT_LT(differing, 100 * 19);
}

RC_GTEST_PROP(Hash, GoesOnWhereItStopped, (const std::string& first, const std::string& second)) {
  RC_ASSERT(fnv1a(second, fnv1a(first)) == fnv1a(first + second));
}

}  // namespace
}  // namespace muster::base
