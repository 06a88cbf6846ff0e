#include "model/host_override.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::model {
namespace {

TEST(HostOverride, TakesAddressesInPlaceOfAHost) {
  const auto parsed = [](const std::string& text) {
    const auto made = parse_host_override(text);
    return made ? made->look_up + " " + std::to_string(made->port) : "refused";
  };
  EXPECT_EQ(parsed("10.0.0.7"), "10.0.0.7 0");
  EXPECT_EQ(parsed("10.0.0.7:8443"), "10.0.0.7 8443");
  EXPECT_EQ(parsed("other.test:80"), "other.test 80");
  EXPECT_EQ(parsed("::1"), "::1 0");
  EXPECT_EQ(parsed("fd00::1:8443"), "fd00::1:8443 0");
  EXPECT_EQ(parsed("::ffff:10.0.0.7"), "::ffff:10.0.0.7 0");
  EXPECT_EQ(parsed("[10.0.0.7]:80"), "10.0.0.7 80");
  EXPECT_EQ(parsed("[::1]"), "::1 0");
  EXPECT_EQ(parsed("[::1]:443"), "::1 443");
  for (const std::string wrong :
       {"", ":80", "b:c:d", "a:", "a:0", "a:65536", "a:8x", "[::1", "[a]:1", "[::1]x", "a b", "::1]/a"}) {
    EXPECT_EQ(parsed(wrong), "refused") << wrong;
  }
  EXPECT_THAT(parse_host_override("b:c:d").error().message, testing::HasSubstr("such as 10.0.0.7, 10.0.0.7:8443"));
}

}  // namespace
}  // namespace muster::model
