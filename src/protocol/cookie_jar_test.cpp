#include "protocol/cookie_jar.h"

#include <gtest/gtest.h>

#include "protocol/cookie_date.h"

namespace muster::protocol {
namespace {

using namespace std::chrono_literals;

constexpr CookieJar::Time kNow{1'800'000'000s};

class Jar {
 public:
  bool set(std::string_view cookie, std::string_view host = "shop.test", std::string_view path = "/",
           CookieJar::Time now = kNow) {
    return jar.store(cookie, host, path, true, now, limits);
  }
  std::string sent(std::string_view host = "shop.test", std::string_view path = "/", bool secure = true,
                   CookieJar::Time now = kNow) const {
    std::string out;
    EXPECT_EQ(jar.append_header(out, host, path, secure, now), !out.empty());
    return out;
  }

  CookieJar jar;
  CookieLimits limits;
};

TEST(CookieJar, IsOnePointerWhenEmpty) {
  EXPECT_EQ(sizeof(CookieJar), sizeof(void*));
  Jar jar;
  EXPECT_EQ(jar.sent(), "");
  EXPECT_TRUE(jar.jar.empty());
  EXPECT_EQ(jar.jar.find("a"), std::nullopt);
}

TEST(CookieJar, SendsBackWhatItWasGiven) {
  Jar jar;
  EXPECT_TRUE(jar.set("a=1"));
  EXPECT_TRUE(jar.set(" b = x=y ; HttpOnly; SameSite=Lax; whatever"));
  EXPECT_TRUE(jar.set("c=\"q\""));
  EXPECT_TRUE(jar.set("d="));
  EXPECT_EQ(jar.sent(), "a=1; b=x=y; c=\"q\"; d=");
  EXPECT_EQ(jar.jar.find("b"), "x=y");
  EXPECT_EQ(jar.jar.find("d"), "");
  EXPECT_EQ(jar.jar.find("e"), std::nullopt);
  std::string seen;
  jar.jar.each("shop.test", "/", true, kNow, [&](std::string_view name, std::string_view value) {
    seen.append(name).append(":").append(value).append(" ");
  });
  EXPECT_EQ(seen, "a:1 b:x=y c:\"q\" d: ");
  jar.jar.clear();
  EXPECT_EQ(jar.sent(), "");
  jar.jar.each("shop.test", "/", true, kNow, [](std::string_view, std::string_view) { FAIL(); });
}

TEST(CookieJar, RefusesWhatIsNoCookie) {
  Jar jar;
  for (const std::string_view text :
       {std::string_view(""), std::string_view("novalue"), std::string_view("=x"), std::string_view("; a=b"),
        std::string_view("a=b\r\nX: y"), std::string_view("a=\0b", 4)}) {
    EXPECT_FALSE(jar.set(text)) << text;
  }
  EXPECT_TRUE(jar.jar.empty());
}

TEST(CookieJar, HostOnlyCookiesStayWithTheirHost) {
  Jar jar;
  jar.set("a=1");
  EXPECT_EQ(jar.sent("shop.test"), "a=1");
  EXPECT_EQ(jar.sent("www.shop.test"), "");
  EXPECT_EQ(jar.sent("test"), "");
}

TEST(CookieJar, DomainCookiesGoToSubdomains) {
  Jar jar;
  EXPECT_TRUE(jar.set("a=1; Domain=.Shop.TEST", "www.shop.test"));
  EXPECT_EQ(jar.sent("shop.test"), "a=1");
  EXPECT_EQ(jar.sent("x.y.shop.test"), "a=1");
  EXPECT_EQ(jar.sent("bishop.test"), "");
  EXPECT_TRUE(jar.set("b=1; Domain=", "www.shop.test"));
  EXPECT_EQ(jar.sent("x.www.shop.test"), "a=1") << "an empty domain is no domain";
}

TEST(CookieJar, RefusesDomainsThatAreNotTheHosts) {
  Jar jar;
  EXPECT_FALSE(jar.set("a=1; Domain=other.test"));
  EXPECT_FALSE(jar.set("a=1; Domain=www.shop.test"));
  EXPECT_FALSE(jar.set("a=1; Domain=hop.test"));
  EXPECT_FALSE(jar.set("a=1; Domain=test")) << "no inner dot";
  EXPECT_TRUE(jar.set("a=1; Domain=localhost", "localhost"));
  EXPECT_EQ(jar.sent("localhost"), "a=1");
  EXPECT_EQ(jar.sent("x.localhost"), "");
}

TEST(CookieJar, AddressesAreHostOnly) {
  Jar jar;
  EXPECT_TRUE(jar.set("a=1; Domain=127.0.0.1", "127.0.0.1"));
  EXPECT_FALSE(jar.set("b=1; Domain=0.0.1", "127.0.0.1"));
  EXPECT_TRUE(jar.set("c=1", "::1"));
  EXPECT_FALSE(jar.set("d=1; Domain=x.test", "::1"));
  EXPECT_EQ(jar.sent("127.0.0.1"), "a=1");
  EXPECT_EQ(jar.sent("::1"), "c=1");
}

TEST(CookieJar, MatchesPathsByWholeSegments) {
  Jar jar;
  jar.set("a=1; Path=/foo");
  EXPECT_EQ(jar.sent("shop.test", "/foo"), "a=1");
  EXPECT_EQ(jar.sent("shop.test", "/foo/bar"), "a=1");
  EXPECT_EQ(jar.sent("shop.test", "/foo?x=/"), "a=1");
  EXPECT_EQ(jar.sent("shop.test", "/foobar"), "");
  EXPECT_EQ(jar.sent("shop.test", "/"), "");
  jar.jar.clear();
  jar.set("b=1; Path=/foo/");
  EXPECT_EQ(jar.sent("shop.test", "/foo/x"), "b=1");
  EXPECT_EQ(jar.sent("shop.test", "/foo"), "");
}

TEST(CookieJar, DefaultPathIsTheFolderOfTheRequest) {
  Jar jar;
  jar.set("a=1", "shop.test", "/x/y?z=/w");
  EXPECT_EQ(jar.sent("shop.test", "/x/other"), "a=1");
  EXPECT_EQ(jar.sent("shop.test", "/"), "");
  jar.set("b=1; Path=relative", "shop.test", "/top");
  EXPECT_EQ(jar.sent("shop.test", "/"), "b=1");
  jar.set("c=1", "shop.test", "");
  EXPECT_EQ(jar.sent("shop.test", "/"), "b=1; c=1");
}

TEST(CookieJar, SendsLongerPathsFirstThenOlderOnes) {
  Jar jar;
  jar.set("a=1; Path=/");
  jar.set("b=1; Path=/x");
  jar.set("c=1; Path=/");
  jar.set("a=2; Path=/");
  EXPECT_EQ(jar.sent("shop.test", "/x"), "b=1; a=2; c=1") << "a keeps its age though replaced";
}

TEST(CookieJar, SecureCookiesNeedTls) {
  Jar jar;
  EXPECT_TRUE(jar.set("a=1; Secure"));
  EXPECT_EQ(jar.sent("shop.test", "/", true), "a=1");
  EXPECT_EQ(jar.sent("shop.test", "/", false), "");
  EXPECT_FALSE(jar.jar.store("b=1; Secure", "shop.test", "/", false, kNow));
}

TEST(CookieJar, CookiesExpire) {
  Jar jar;
  jar.set("a=1; Max-Age=10");
  EXPECT_EQ(jar.sent("shop.test", "/", true, kNow + 9s), "a=1");
  EXPECT_EQ(jar.sent("shop.test", "/", true, kNow + 10s), "");
  jar.set("b=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT");
  EXPECT_EQ(jar.sent("shop.test", "/", true, kNow + 10s), "b=1");
  jar.set("c=1", "shop.test", "/", kNow + 11s);
  EXPECT_EQ(jar.jar.size(), 2u) << "storing throws expired ones out";
  jar.set("b=; Expires=Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(jar.sent(), "c=1");
  jar.set("c=; Max-Age=0");
  EXPECT_TRUE(jar.jar.empty());
  EXPECT_TRUE(jar.set("d=; Max-Age=-1"));
  EXPECT_TRUE(jar.jar.empty());
}

TEST(CookieJar, MaxAgeWinsOverExpiresAndNonsenseIsIgnored) {
  Jar jar;
  jar.set("a=1; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT");
  jar.set("b=1; Max-Age=soon; Expires=tomorrow");
  jar.set("c=1; Max-Age=99999999999999999999999999");
  jar.set("d=1; Max-Age=; Max-Age=-");
  EXPECT_EQ(jar.sent("shop.test", "/", true, kNow + 5s), "a=1; b=1; c=1; d=1");
  EXPECT_EQ(jar.sent("shop.test", "/", true, kNow + 24h * 365 * 100), "b=1; c=1; d=1");
}

TEST(CookieJar, TheOldestMakesRoomWhenTheJarIsFull) {
  Jar jar;
  jar.limits.max_cookies = 2;
  jar.set("a=1");
  jar.set("b=1; Path=/");
  jar.set("c=1");
  EXPECT_EQ(jar.sent(), "b=1; c=1");
  jar.limits.max_jar_bytes = 40;
  jar.set("d=" + std::string(24, 'x'));
  EXPECT_EQ(jar.jar.size(), 1u);
  EXPECT_FALSE(jar.set("e=" + std::string(40, 'x')));
  jar.limits.max_cookie_bytes = 4;
  EXPECT_FALSE(jar.set("abc=de"));
  jar.limits = {};
  jar.limits.max_cookies = 0;
  jar.set("f=1");
  EXPECT_EQ(jar.jar.find("f"), std::nullopt);
}

TEST(CookieDate, ReadsTheThreeCommonFormats) {
  const auto expected = std::chrono::sys_days(std::chrono::year(1994) / 11 / 6) + 8h + 49min + 37s;
  EXPECT_EQ(parse_cookie_date("Sun, 06 Nov 1994 08:49:37 GMT"), expected);
  EXPECT_EQ(parse_cookie_date("Sunday, 06-Nov-94 08:49:37 GMT"), expected);
  EXPECT_EQ(parse_cookie_date("Sun Nov  6 08:49:37 1994"), expected);
  EXPECT_EQ(parse_cookie_date("6 november 1994 8:49:37"), expected);
  EXPECT_EQ(parse_cookie_date("01 Jan 30 00:00:00"), std::chrono::sys_days(std::chrono::year(2030) / 1 / 1));
}

TEST(CookieDate, RefusesDatesThatDoNotExist) {
  for (const char* text : {"", "nonsense", "31 Feb 2020 00:00:00", "32 Jan 2020 00:00:00", "1 Jan 2020 24:00:00",
                           "1 Jan 2020 00:60:00", "1 Jan 2020 00:00:60", "1 Jan 1600 00:00:00", "1 Jan 2020",
                           "1 Jan 20200 00:00:00", "1 Jan 2020 00:00", "Jan 2020 00:00:00 x", "1 1 2020 00:00:00"}) {
    EXPECT_EQ(parse_cookie_date(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace muster::protocol
