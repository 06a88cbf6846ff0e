#include "protocol/credentials.h"

#include <gtest/gtest.h>

namespace muster::protocol {
namespace {

TEST(Credentials, AreToldByTheNamesOfHeaders) {
  for (const char* name : {"Authorization", "Cookie", "X-Api-Key", "x-auth-token", "X-Session", "X-Hub-Signature"})
    EXPECT_TRUE(carries_credentials(name)) << name;
  for (const char* name : {"Accept", "Host", "X-Request-Id"}) EXPECT_FALSE(carries_credentials(name)) << name;
}

TEST(Credentials, AreToldByTheLastWordOfAName) {
  for (const char* name : {"token", "refresh_token", "accessToken", "csrftoken", "key", "api_key", "apiKey", "APIKEY",
                           "sig", "X-Amz-Signature", "user[password]", "password2", "Pwd", "pw", "client_secret",
                           "session_id", "sessionId", "JSESSIONID"})
    EXPECT_TRUE(names_credentials(name)) << name;
}

TEST(Credentials, AreNotSeenInHarmlessNames) {
  for (const char* name : {"keyboard", "keyword", "monkey", "token_type", "tokens", "max_tokens", "design", "session",
                           "signal", "passwords", "id", "page", "key_count", "", "_", "2"})
    EXPECT_FALSE(names_credentials(name)) << name;
}

TEST(Credentials, AreTakenOutOfAddresses) {
  EXPECT_EQ(without_credentials("http://a.test/x?page=2&api_key=abc&sig=d%20e&flag&token=&q=1#token=f"),
            "http://a.test/x?page=2&api_key=***&sig=***&flag&token=&q=1#token=***");
  EXPECT_EQ(without_credentials("http://ada:hunter2@a.test/a@b"), "http://***@a.test/a@b");
  EXPECT_EQ(without_credentials("http://ghp_abc@a.test"), "http://***@a.test");
  EXPECT_EQ(without_credentials("http://sk_live_abc:@a.test/"), "http://***@a.test/");
  EXPECT_EQ(without_credentials("http://${env.USER}:hunter2@a.test/"), "http://***@a.test/");
  EXPECT_EQ(without_credentials("/x?key=abc"), "/x?key=***");
}

TEST(Credentials, AreTakenOutOfFragmentsAndOfEveryAddressInAText) {
  EXPECT_EQ(without_credentials("https://a/cb#access_token=abc&state=1"), "https://a/cb#access_token=***&state=1");
  EXPECT_EQ(without_credentials("/a?x=1#token=abc"), "/a?x=1#token=***");
  EXPECT_EQ(without_credentials_of_addresses("no 'http://u:p@h/?key=1' nor <ftp://ada:pw@h>, really?"),
            "no 'http://***@h/?key=***' nor <ftp://***@h>, really?");
  EXPECT_EQ(without_credentials_of_addresses(""), "");
}

TEST(Credentials, OfElsewhereStayInAddresses) {
  for (const char* address : {"/x?token=${token}", "http://${env.USER}:${env.PASSWORD}@a.test/", "/token=1/key", "/"})
    EXPECT_EQ(without_credentials(address), address);
  EXPECT_EQ(without_credentials("/x?token=$${token}"), "/x?token=***") << "an escaped brace is a part of the text";
}

}  // namespace
}  // namespace muster::protocol
