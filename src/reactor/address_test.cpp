#include "reactor/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace muster::reactor {
namespace {

using testing::HasSubstr;

TEST(Address, ReadsAndWritesBothFamilies) {
  EXPECT_EQ(Address::parse("127.0.0.1", 80)->to_text(), "127.0.0.1:80");
  EXPECT_EQ(Address::parse("::1", 443)->to_text(), "[::1]:443");
  EXPECT_EQ(Address::parse("[2001:db8::7]", 65535)->to_text(), "[2001:db8::7]:65535");
  EXPECT_EQ(Address::parse("::1", 1)->family(), AF_INET6);
  EXPECT_EQ(Address::parse("10.0.0.1", 1)->family(), AF_INET);
}

TEST(Address, RefusesWhatIsNoAddressAndSaysWhatItFound) {
  for (const std::string_view text : {"", "localhost", "1.2.3", "1.2.3.4.5", "256.1.1.1", "[::1", ":::", "1.2.3.4 "}) {
    const auto parsed = Address::parse(text, 1);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, HasSubstr("expected an IPv4 or IPv6 address"));
  }
  EXPECT_FALSE(Address::parse(std::string_view("127.0.0.1\0x", 11), 1));
}

TEST(Address, KeepsItsPortAndItsSize) {
  Address v6 = *Address::parse("::1", 1);
  v6.set_port(8080);
  EXPECT_EQ(v6.port(), 8080);
  EXPECT_EQ(v6.size(), sizeof(sockaddr_in6));
  const Address copy = Address::from(v6.get(), v6.size());
  EXPECT_EQ(copy.to_text(), "[::1]:8080");
}

TEST(Address, ListensOnAFreePortAndRefusesATakenOne) {
  Address bound;
  const auto first = listen_on(*Address::parse("127.0.0.1", 0), false, bound);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_NE(bound.port(), 0);
  Address again;
  const auto second = listen_on(bound, false, again);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr(bound.to_text()));
  close(*first);
}

}  // namespace
}  // namespace muster::reactor
