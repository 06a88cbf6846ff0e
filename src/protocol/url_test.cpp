#include "protocol/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace muster::protocol {
namespace {

using testing::HasSubstr;

Url good(std::string_view text) {
  const base::Expected<Url> url = parse_url(text);
  EXPECT_TRUE(url.has_value()) << text << ": " << (url ? "" : url.error().message);
  return url.value_or(Url{});
}

std::string message_of(std::string_view text) {
  const base::Expected<Url> url = parse_url(text);
  EXPECT_FALSE(url.has_value()) << text;
  return url ? "" : url.error().message;
}

TEST(Url, TellsNothingOfAPasswordThatIsNotEncoded) {
  for (const char* const text :
       {"http://ada:correct/horse@h/", "http://ada:correct?horse@h/", "http://ada:correct#horse@h"}) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url);
    EXPECT_EQ(url.error().message,
              "user and password in the URL must be percent-encoded (write / as %2F, ? as %3F, # as %23)");
  }
}

TEST(Url, ReadsEveryPart) {
  const Url url = good("HTTPS://user:pa%20ss@Shop.Test:8443/a/b?c=d&e#frag");
  EXPECT_EQ(url.scheme, "https");
  EXPECT_EQ(url.userinfo, "user:pa%20ss");
  EXPECT_EQ(url.host, "shop.test");
  EXPECT_EQ(url.port, 8443);
  EXPECT_EQ(url.target, "/a/b?c=d&e");
  EXPECT_EQ(url.path(), "/a/b");
  EXPECT_EQ(url.query(), "c=d&e");
  EXPECT_TRUE(url.secure());
  EXPECT_EQ(url.to_string(), "https://shop.test:8443/a/b?c=d&e") << "userinfo is a secret";
}

TEST(Url, FillsInPortAndPath) {
  EXPECT_EQ(good("http://a").port, 80);
  EXPECT_EQ(good("https://a").port, 443);
  EXPECT_EQ(good("http://a:").port, 80);
  EXPECT_EQ(good("http://a").target, "/");
  EXPECT_EQ(good("http://a?x").target, "/?x");
  EXPECT_EQ(good("http://a#x").target, "/");
  EXPECT_EQ(good("  http://a/  ").target, "/");
  EXPECT_EQ(good("http://a/?").target, "/?");
  EXPECT_EQ(good("http://a/").query(), "");
}

TEST(Url, AuthorityIsWhatTheHostHeaderNeeds) {
  EXPECT_EQ(good("http://u@a:80/").authority(), "a");
  EXPECT_EQ(good("http://a:443/").authority(), "a:443");
  EXPECT_EQ(good("https://a:443/").authority(), "a");
  EXPECT_EQ(good("http://[::1]/").authority(), "[::1]");
  EXPECT_EQ(good("http://[2001:DB8::1]:81/").authority(), "[2001:db8::1]:81");
}

TEST(Url, AcceptsIpv6AddressesOnlyInGoodShape) {
  for (const char* address : {"::", "::1", "1::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "fe80::1:2",
                              "::ffff:127.0.0.1", "1:2:3:4:5:6:1.2.3.4", "1::8"}) {
    EXPECT_EQ(good(std::string("http://[") + address + "]/").host, address);
  }
  for (const char* address : {"", ":", ":::", "1", "1:2", "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::", "g::",
                              "1:2:3:4:5:6:7:", ":1:2:3:4:5:6:7", "::1.2.3", "::1.2.3.256", "1.2.3.4", "fe80::1%eth0",
                              "1:2:3:4:5:6:7:8::", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3.4.5", "::1..2.3"}) {
    EXPECT_THAT(message_of(std::string("http://[") + address + "]/"), HasSubstr("is not an IPv6 address")) << address;
  }
}

TEST(Url, SaysWhatIsWrong) {
  EXPECT_THAT(message_of(""), HasSubstr("expected a URL such as"));
  EXPECT_THAT(message_of("shop.test/x"), HasSubstr("found \"shop.test/x\""));
  EXPECT_THAT(message_of("localhost:80"), HasSubstr("expected a URL"));
  EXPECT_THAT(message_of("1http://x"), HasSubstr("expected a URL"));
  EXPECT_THAT(message_of("ftp://x/"), HasSubstr("found scheme \"ftp\""));
  EXPECT_THAT(message_of("http:///x"), HasSubstr("host is missing"));
  EXPECT_THAT(message_of("http://:80/"), HasSubstr("host is missing"));
  EXPECT_THAT(message_of("http://a:x/"), HasSubstr("1 to 65535, found \"x\""));
  EXPECT_THAT(message_of("http://a:0/"), HasSubstr("1 to 65535"));
  EXPECT_THAT(message_of("http://a:65536/"), HasSubstr("1 to 65535"));
  EXPECT_THAT(message_of("http://a:-1/"), HasSubstr("1 to 65535"));
  EXPECT_THAT(message_of("http://a b/"), HasSubstr("not a host name"));
  EXPECT_THAT(message_of("http://::1/"), HasSubstr("host is missing"));
  EXPECT_THAT(message_of("http://a<b/"), HasSubstr("not a host name"));
  EXPECT_THAT(message_of("http://[::1/"), HasSubstr("closing ']'"));
  EXPECT_THAT(message_of("http://[::1]x/"), HasSubstr("after ']'"));
  EXPECT_THAT(message_of("http://a/\r\nEvil: 1"), HasSubstr("control character (byte 0x0d at position 10)"));
  EXPECT_THAT(message_of("http://u@v@a/"), HasSubstr("%40"));
  EXPECT_THAT(message_of("http://a/" + std::string(9000, 'x')), HasSubstr("the limit is 8192"));
}

TEST(Url, EncodesWhatPeopleForgetToEncode) {
  EXPECT_EQ(good("http://a/b c/\xc3\xa9?x=y z&\"<>").target, "/b%20c/%C3%A9?x=y%20z&%22%3C%3E");
  EXPECT_EQ(good("http://a/100%/%41%zz").target, "/100%25/%41%25zz");
  EXPECT_EQ(good("http://a/a;b=c,d:e@f!$&'()*+").target, "/a;b=c,d:e@f!$&'()*+");
}

TEST(Url, RemovesDotSegments) {
  EXPECT_EQ(good("http://a/b/./c/../d/..").target, "/b/");
  EXPECT_EQ(good("http://a/../../x").target, "/x");
  EXPECT_EQ(good("http://a/.").target, "/");
  EXPECT_EQ(good("http://a/..?q").target, "/?q");
  EXPECT_EQ(good("http://a/...").target, "/...");
}

// RFC 3986 sections 5.4.1 and 5.4.2; fragments are dropped here.
TEST(Url, ResolvesTheExamplesOfTheStandard) {
  const Url page = good("http://a/b/c/d;p?q");
  const std::pair<const char*, const char*> cases[] = {
      {"http://g", "http://g/"},
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g/"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q"},
      {"g#s", "http://a/b/c/g"},
      {"g?y#s", "http://a/b/c/g?y"},
      {";x", "http://a/b/c/;x"},
      {"g;x", "http://a/b/c/g;x"},
      {"g;x?y#s", "http://a/b/c/g;x?y"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"./", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../", "http://a/"},
      {"../../g", "http://a/g"},
      {"../../../g", "http://a/g"},
      {"../../../../g", "http://a/g"},
      {"/./g", "http://a/g"},
      {"/../g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {".g", "http://a/b/c/.g"},
      {"g..", "http://a/b/c/g.."},
      {"..g", "http://a/b/c/..g"},
      {"./../g", "http://a/b/g"},
      {"./g/.", "http://a/b/c/g/"},
      {"g/./h", "http://a/b/c/g/h"},
      {"g/../h", "http://a/b/c/h"},
      {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
      {"g;x=1/../y", "http://a/b/c/y"},
      {"g?y/./x", "http://a/b/c/g?y/./x"},
      {"g?y/../x", "http://a/b/c/g?y/../x"},
  };
  for (const auto& [reference, expected] : cases) {
    const base::Expected<Url> url = resolve(page, reference);
    ASSERT_TRUE(url.has_value()) << reference;
    EXPECT_EQ(url->to_string(), expected) << reference;
  }
}

TEST(Url, ResolvesOnlyToHttpAndWithinLimits) {
  const Url page = good("https://u:p@a:444/b");
  EXPECT_EQ(resolve(page, "//h/x")->to_string(), "https://h/x");
  EXPECT_EQ(resolve(page, "//h/x")->userinfo, "") << "credentials stay with their host";
  EXPECT_EQ(resolve(page, "x")->userinfo, "u:p");
  EXPECT_EQ(resolve(page, "x")->port, 444);
  EXPECT_FALSE(resolve(page, "javascript:alert(1)").has_value());
  EXPECT_FALSE(resolve(page, "http:x").has_value());
  EXPECT_FALSE(resolve(page, "a\nb").has_value());
  EXPECT_FALSE(resolve(page, std::string(9000, 'x')).has_value());
  EXPECT_FALSE(resolve(page, std::string(3000, '"')).has_value()) << "encoding triples it";
  EXPECT_TRUE(page.same_origin(*resolve(page, "/elsewhere")));
  EXPECT_FALSE(page.same_origin(*resolve(page, "http://a:444/")));
  EXPECT_FALSE(page.same_origin(*resolve(page, "https://a/")));
}

TEST(Url, EncodesValuesForTheirPlace) {
  EXPECT_EQ(encode_path("a b/c?d#e%\xc3\xa9"), "a%20b/c%3Fd%23e%25%C3%A9");
  EXPECT_EQ(encode_query("a b&c=d/e+f~"), "a%20b%26c%3Dd%2Fe%2Bf~");
  EXPECT_EQ(percent_decode("a%20b%2fc%zz%4"), "a b/c%zz%4");
}

RC_GTEST_PROP(UrlProperty, DecodingUndoesEncoding, (const std::string& value)) {
  RC_ASSERT(percent_decode(encode_query(value)) == value);
  RC_ASSERT(percent_decode(encode_path(value)) == value);
}

RC_GTEST_PROP(UrlProperty, PrintedUrlsParseToThemselves, (const std::string& tail)) {
  const base::Expected<Url> url = parse_url("http://host.test/" + tail);
  if (!url) return;
  const base::Expected<Url> again = parse_url(url->to_string());
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == *url);
}

}  // namespace
}  // namespace muster::protocol
