#include "engine/redaction.h"

#include <gtest/gtest.h>

namespace muster::engine {
namespace {

std::string shown(std::string text, const std::vector<std::string>& secrets) {
  std::vector<std::pair<std::string, std::string>> named;
  for (const std::string& secret : secrets) named.emplace_back("NAME", secret);
  redact(text, spellings(named));
  return text;
}

TEST(Redaction, HidesASecretEverywhere) {
  EXPECT_EQ(shown("a=hush&b=hush", {"hush"}), "a=***&b=***");
  EXPECT_EQ(shown("nothing here", {"hush"}), "nothing here");
}

TEST(Redaction, HidesTheEncodingsInWhichASecretIsSent) {
  EXPECT_EQ(shown("/x?p=a%20b%2F%22c", {"a b/\"c"}), "/x?p=***");
  EXPECT_EQ(shown("p=a+b%2F%22c", {"a b/\"c"}), "p=***");
  EXPECT_EQ(shown(R"({"p":"a b/\"c"})", {"a b/\"c"}), R"({"p":"***"})");
}

TEST(Redaction, HidesASecretInAJsonStringOfAnEchoThatWasSaved) {
  EXPECT_EQ(shown(R"({"body":"{\"p\":\"a\\\"b\"}"})", {"a\"b"}), R"({"body":"{\"p\":\"***\"}"})");
  EXPECT_EQ(shown(R"("{\"body\":\"{\\\"p\\\":\\\"a\\\\\\\"b\\\"}\"}")", {"a\"b"}),
            R"("{\"body\":\"{\\\"p\\\":\\\"***\\\"}\"}")");
}

TEST(Redaction, HidesTheCredentialsOfBasicAuthentication) {
  // "ada:hush" and "ada:other"
  EXPECT_EQ(shown("Authorization: Basic YWRhOmh1c2g=\r\n", {"hush"}), "Authorization: Basic ***\r\n");
  EXPECT_EQ(shown("Authorization: Basic YWRhOm90aGVy\r\n", {"hush"}), "Authorization: Basic YWRhOm90aGVy\r\n");
  EXPECT_EQ(shown("basic ", {"hush"}), "basic ");
}

TEST(Redaction, LeavesNoTailOfASecretInBase64) {
  EXPECT_EQ(shown("x=c3dvcmRmaXNo;", {"swordfish"}), "x=***;");       // alone
  EXPECT_EQ(shown("x=c3dvcmRmaXNoIQ==;", {"swordfish!"}), "x=***;");  // with two bits left over
  EXPECT_EQ(shown("x=YTpzd29yZGZpc2g=;", {"swordfish"}), "x=YTp***;");
}

TEST(Redaction, HidesASecretInTheAlphabetOfBase64ForUrls) {
  EXPECT_EQ(shown("x=P28_bz4-Pg;", {"?o?o>>>"}), "x=***;");  // standard: P28/bz4+Pg==
  EXPECT_EQ(shown("x=YTo_bz9vPj4-;", {"?o?o>>>"}), "x=YTo***;");
  EXPECT_EQ(shown("x=c3dvcmRmaXNoIQ;", {"swordfish!"}), "x=***;");
}

TEST(Redaction, HidesASecretInHexadecimal) {
  EXPECT_EQ(shown("x=68757368;", {"hush"}), "x=***;");
  EXPECT_EQ(shown("x=6B6F6A2F;y=6b6f6a2f", {"koj/"}), "x=***;y=***");
  EXPECT_EQ(shown("61 items", {"a"}), "61 items") << "too short to be told from other numbers";
}

TEST(Redaction, HidesASecretHoweverAServerSpellsItsCharacters) {
  const std::string secret = "pa&ss<w\xC3\xB6rd/9> \xF0\x9F\x94\x91";
  for (const char* const spelled :
       {R"(pa\u0026ss\u003cw\u00f6rd/9\u003E \ud83d\udd11)", "pa&ss<w\xC3\xB6rd\\/9> \xF0\x9F\x94\x91",
        "pa&amp;ss&lt;w&#246;rd/9&gt; &#x1f511;", "pa%26ss%3cw%c3%b6rd/9%3e%20%f0%9f%94%91",
        "pa&ss<w%C3%B6rd/9>+\xF0\x9F\x94\x91", R"(\x70a&ss<w\xf6rd/9> \ud83d\udd11)"}) {
    EXPECT_EQ(shown(std::string("x=") + spelled + ";", {secret}), "x=***;");
  }
  EXPECT_EQ(shown("x=pa&amp;ss; and pa\\u0026st, 50% of it", {secret}), "x=pa&amp;ss; and pa\\u0026st, 50% of it");
}

TEST(Redaction, HidesASecretThatEdgesOfChunksCut) {
  EXPECT_EQ(shown("e\r\npre SuperSecre\r\n12;x=y\r\ntPassphrase99 post\r\n", {"SuperSecretPassphrase99"}),
            "e\r\npre *** post\r\n");
  EXPECT_EQ(shown("Super\r\nSecret", {"SuperSecret"}), "Super\r\nSecret") << "no chunks, but lines";
}

TEST(Redaction, HidesSecretsOfEscapesAlone) {
  EXPECT_EQ(shown("x=%25%25;", {"%%"}), "x=***;");
  EXPECT_EQ(shown("x=%%;", {"%%"}), "x=***;");
  EXPECT_EQ(shown(R"(x=\\\\;)", {R"(\\)"}), "x=***;");
  const std::string many(1000, '\\');
  EXPECT_EQ(shown(many + "y", {std::string(200, '\\') + "x"}), many + "y") << "and this ends";
}

TEST(Redaction, MasksTheHeadersThatCarryCredentials) {
  std::string exchange =
      "POST /key: HTTP/1.1\r\nHost: a\r\nauthorization: Basic YTpi\r\nX-Api-Key:abc\r\nCookie: a=b; c=d\r\n"
      "Accept: */*\r\nX-Token:\r\n\r\npassword: in the body\r\n";
  mask_credentials(exchange);
  EXPECT_EQ(exchange,
            "POST /key: HTTP/1.1\r\nHost: a\r\nauthorization: Basic ***\r\nX-Api-Key:***\r\nCookie: ***\r\n"
            "Accept: */*\r\nX-Token:\r\n\r\npassword: in the body\r\n");
  std::string cut = "GET / HTTP/1.1\r\nAuthorization: Bearer eyJh";
  mask_credentials(cut);
  EXPECT_EQ(cut, "GET / HTTP/1.1\r\nAuthorization: Bearer ***");
}

TEST(Redaction, MasksTheValuesOfTheQueryThatCarryCredentials) {
  const auto masked = [](std::string exchange) {
    mask_credentials(exchange);
    return exchange;
  };
  EXPECT_EQ(masked("GET /a?page=2&api_key=abc&Password=x%20y&flag&token=&q=1 HTTP/1.1\r\nReferer: /?token=t\r\n\r\n"),
            "GET /a?page=2&api_key=***&Password=***&flag&token=&q=1 HTTP/1.1\r\nReferer: /?token=***\r\n\r\n");
  EXPECT_EQ(masked("GET /?access_token=abc HTTP/1.1\r\n\r\n"), "GET /?access_token=*** HTTP/1.1\r\n\r\n");
  EXPECT_EQ(masked("GET /?token=ab"), "GET /?token=***") << "cut short";
  EXPECT_EQ(masked("GET /?sig=a&key=b&monkey=c HTTP/1.1\r\n\r\n"), "GET /?sig=***&key=***&monkey=c HTTP/1.1\r\n\r\n");
  EXPECT_EQ(masked("GET /?keyword=shoes HTTP/1.1\r\n\r\n"), "GET /?keyword=shoes HTTP/1.1\r\n\r\n");
  EXPECT_EQ(masked("POST /token=1 HTTP/1.1\r\n\r\n?token=in the body"),
            "POST /token=1 HTTP/1.1\r\n\r\n?token=in the body");
}

TEST(Redaction, MasksCredentialsInTheAddressesOfOtherHeaders) {
  std::string exchange =
      "HTTP/1.1 302 Found\r\nLocation: app://cb?access_token=abc&state=1#id_token=x.y\r\nX-Next: ftp://ada:pw@h/a\r\n"
      "Link: </a?sig=1&page=2>; rel=\"next\", <http://u:p@h/>\r\nX-Plain: why? token=1 & more\r\n\r\n"
      "http://u:p@h/?token=in the body";
  mask_credentials(exchange);
  EXPECT_EQ(exchange,
            "HTTP/1.1 302 Found\r\nLocation: app://cb?access_token=***&state=1#id_token=***\r\n"
            "X-Next: ftp://***@h/a\r\nLink: </a?sig=***&page=2>; rel=\"next\", <http://***@h/>\r\n"
            "X-Plain: why? token=1 & more\r\n\r\nhttp://u:p@h/?token=in the body");
}

TEST(Redaction, ASecretInUpperOrLowerCaseWasShown) {
  EXPECT_EQ(shown("x=SWORDFISH-9; y=swordfish-9; z=SwordFish-9", {"SwordFish-9"}), "x=***; y=***; z=***");
  EXPECT_EQ(shown("x=c3dvcmRmaXNoIQ==;", {"SwordFish!"}), "x=***;") << "base64 of lower case";
  EXPECT_EQ(shown("x=A%26B%20C;", {"a&b c"}), "x=***;");
}

TEST(Redaction, TheBasicCredentialsOfAShortPasswordWereShown) {
  const auto masked = [](std::string text) {
    mask_basic_credentials(text);
    return text;
  };
  EXPECT_EQ(masked("GET / HTTP/1.1\r\nAuthorization: Basic YWRhOnB3\r\nA: b\r\n"),
            "GET / HTTP/1.1\r\nAuthorization: Basic ***\r\nA: b\r\n");
  EXPECT_EQ(masked(R"({"authorization": "basic YWRhOg=="})"), R"({"authorization": "basic ***"})");
  EXPECT_EQ(masked("Authorization: Basic authentication"), "Authorization: Basic authentication");
  EXPECT_EQ(masked("basic YWRhOnB3"), "basic YWRhOnB3") << "no header";
}

TEST(Redaction, LeavesNoPartOfALongSecretThatHoldsAShortOne) {
  EXPECT_EQ(shown("hush-hush", {"hush", "hush-hush"}), "***");
}

TEST(Redaction, EndsForASecretThatIsPartOfTheMask) {
  EXPECT_EQ(shown("a*b", {"*"}), "a***b");
  EXPECT_EQ(shown("a", {""}), "a");
}

}  // namespace
}  // namespace muster::engine
