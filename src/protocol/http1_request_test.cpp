#include "protocol/http1_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "protocol/http1_recording.h"

namespace muster::protocol {
namespace {

using testing::ElementsAre;

Http1Recording read_request(std::string_view bytes, const Http1Limits& limits = {}) {
  Http1RequestParser parser(limits);
  const Http1Recording whole = record(parser, bytes, false, all_at_once);
  for (std::size_t size : {1u, 2u, 3u, 7u, 16u, 33u}) {
    parser.reset();
    EXPECT_EQ(record(parser, bytes, false, [size](std::size_t) { return size; }), whole) << "pieces of " << size;
  }
  return whole;
}

Http1Error request_error(std::string_view bytes, const Http1Limits& limits = {}) {
  return read_request(bytes, limits).error;
}

std::string request_with(std::string_view headers, std::string_view body = "") {
  return std::string("POST /x HTTP/1.1\r\nHost: a\r\n").append(headers).append("\r\n").append(body);
}

TEST(Http1Request, ReadsMethodTargetAndHeaders) {
  const Http1Recording r = read_request("GET /a/b?c=d HTTP/1.1\r\nHost: shop.test\r\nAccept:*/*\r\n\r\n");
  EXPECT_EQ(r.state, ParseState::kComplete);
  EXPECT_THAT(r.events, ElementsAre("request GET /a/b?c=d", "header Host=shop.test", "header Accept=*/*", "end"));
  EXPECT_TRUE(r.keep_alive);
}

TEST(Http1Request, ReadsBodiesByLengthAndByChunks) {
  EXPECT_EQ(read_request(request_with("Content-Length: 3\r\n", "abc")).body, "abc");
  const Http1Recording r =
      read_request(request_with("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n2;x\r\nde\r\n0\r\nT: u\r\n\r\n"));
  EXPECT_EQ(r.body, "abcde");
  EXPECT_EQ(r.events.back(), "trailer T=u");
  EXPECT_EQ(r.state, ParseState::kComplete);
}

TEST(Http1Request, WithoutLengthHasNoBodyAndLeavesTheNextRequest) {
  const std::string one = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const Http1Recording r = read_request(one + one);
  EXPECT_EQ(r.state, ParseState::kComplete);
  EXPECT_EQ(r.consumed, one.size());
}

TEST(Http1Request, IgnoresEmptyLinesBeforeTheRequestUpToALimit) {
  EXPECT_EQ(read_request("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").state, ParseState::kComplete);
  Http1Limits limits;
  limits.max_header_bytes = 100;
  std::string endless;
  for (int i = 0; i < 60; ++i) endless += "\r\n";
  EXPECT_EQ(request_error(endless, limits), Http1Error::kHeadersTooLarge);
}

TEST(Http1Request, AcceptsEveryFormOfTarget) {
  for (const char* line : {"OPTIONS * HTTP/1.1", "CONNECT a.test:443 HTTP/1.1", "GET http://a.test/x HTTP/1.1",
                           "M-SEARCH * HTTP/1.1", "GET /\xc3\xa9 HTTP/1.1"}) {
    EXPECT_EQ(read_request(std::string(line) + "\r\nHost: a\r\n\r\n").state, ParseState::kComplete) << line;
  }
}

TEST(Http1Request, RefusesBadRequestLines) {
  for (const char* line : {"GET", "GET /", "GET / ", " GET / HTTP/1.1", "GET  / HTTP/1.1", "GET /a b HTTP/1.1",
                           "G(T / HTTP/1.1", "GET / http/1.1", "GET\t/ HTTP/1.1", "GET /\x01 HTTP/1.1",
                           "GET /\t HTTP/1.1", "GET /a\rb HTTP/1.1", "GET  HTTP/1.1", "/ HTTP/1.1"}) {
    EXPECT_EQ(request_error(std::string(line) + "\r\nHost: a\r\n\r\n"), Http1Error::kBadRequestLine) << line;
  }
  for (const char* line : {"GET / HTTP/2.0", "GET / HTTP/1.1 ", "GET / HTTP/1.", "GET / HTTP/1.x", "GET / HTTP/11"}) {
    EXPECT_EQ(request_error(std::string(line) + "\r\nHost: a\r\n\r\n"), Http1Error::kBadVersion) << line;
  }
}

TEST(Http1Request, NeedsExactlyOneHostIn11) {
  EXPECT_EQ(request_error("GET / HTTP/1.1\r\n\r\n"), Http1Error::kMissingHost);
  EXPECT_EQ(request_error("GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n"), Http1Error::kDuplicateHost);
  EXPECT_EQ(read_request("GET / HTTP/1.0\r\n\r\n").state, ParseState::kComplete);
}

TEST(Http1Request, RefusesWhatTwoServersCouldReadInTwoWays) {
  EXPECT_EQ(request_error(request_with("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n")),
            Http1Error::kLengthAndTransferEncoding);
  EXPECT_EQ(request_error(request_with("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n")),
            Http1Error::kLengthAndTransferEncoding);
  EXPECT_EQ(request_error(request_with("Transfer-Encoding: gzip, chunked\r\n")),
            Http1Error::kUnsupportedTransferCoding);
  EXPECT_EQ(request_error(request_with("Transfer-Encoding: chunked;q=1\r\n")), Http1Error::kUnsupportedTransferCoding);
  EXPECT_EQ(request_error(request_with("Transfer-Encoding: identity\r\n")), Http1Error::kUnsupportedTransferCoding);
  EXPECT_EQ(request_error(request_with("Transfer-Encoding: chunked, chunked\r\n")), Http1Error::kBadTransferEncoding);
  EXPECT_EQ(request_error(request_with("Transfer-Encoding : chunked\r\n")), Http1Error::kSpaceBeforeColon);
  EXPECT_EQ(request_error(request_with("Transfer-Encoding: \x0b"
                                       "chunked\r\n")),
            Http1Error::kBadHeaderValue);
  EXPECT_EQ(request_error("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), Http1Error::kBadTransferEncoding);
  EXPECT_EQ(request_error(request_with("Content-Length: 3\r\nContent-Length: 4\r\n")),
            Http1Error::kConflictingContentLength);
  EXPECT_EQ(request_error(request_with("Content-Length: +3\r\n")), Http1Error::kBadContentLength);
  EXPECT_EQ(request_error("GET / HTTP/1.1\nHost: a\n\n"), Http1Error::kBareLineFeed);
}

TEST(Http1Request, KnowsWhenTheClientWaitsForContinue) {
  const Http1Limits limits;
  Http1RequestParser parser(limits);
  Http1RequestSink sink;
  EXPECT_EQ(parser.feed(request_with("Expect: 100-Continue\r\nContent-Length: 1\r\n"), sink).state,
            ParseState::kNeedMore);
  EXPECT_TRUE(parser.expects_continue());
  parser.reset();
  parser.feed(request_with("Expect: something\r\n"), sink);
  EXPECT_FALSE(parser.expects_continue());
  parser.reset();
  parser.feed("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n", sink);
  EXPECT_FALSE(parser.expects_continue()) << "HTTP/1.0 knows no interim responses";
  EXPECT_TRUE(parser.http_1_0());
}

TEST(Http1Request, KeepAliveFollowsVersionAndConnectionHeader) {
  EXPECT_FALSE(read_request(request_with("Connection: close\r\n")).keep_alive);
  EXPECT_FALSE(read_request("GET / HTTP/1.0\r\n\r\n").keep_alive);
  EXPECT_TRUE(read_request("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").keep_alive);
  EXPECT_FALSE(read_request("nonsense\r\n").keep_alive);
}

TEST(Http1Request, HoldsBodiesToTheirLimit) {
  Http1Limits limits;
  limits.max_body_bytes = 2;
  EXPECT_EQ(request_error(request_with("Content-Length: 3\r\n"), limits), Http1Error::kBodyTooLarge);
  EXPECT_EQ(request_error(request_with("Transfer-Encoding: chunked\r\n", "3\r\n"), limits), Http1Error::kBodyTooLarge);
}

TEST(Http1Request, ClosedConnectionsAreToldApart) {
  const Http1Limits limits;
  Http1RequestParser parser(limits);
  Http1RequestSink sink;
  EXPECT_EQ(parser.finish(sink), ParseState::kError);
  EXPECT_EQ(parser.error(), Http1Error::kClosedBeforeMessage);
  parser.reset();
  parser.feed("GET / HT", sink);
  EXPECT_EQ(parser.finish(sink), ParseState::kError);
  EXPECT_EQ(parser.error(), Http1Error::kTruncated);
}

RC_GTEST_PROP(Http1RequestProperty, EverySplitGivesTheSameEvents, ()) {
  const auto fragment = rc::gen::element<std::string>(
      "Host: a\r\n", "\r\n", "\n", "\r", "A: b\r\n", "Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n",
      "Connection: close\r\n", "Expect: 100-continue\r\n", "X: \t y \r\n", "\r\n\r\n", "1\r\nx\r\n", "3;e\r\nabc\r\n",
      "0\r\n", "abc", " ", ":");
  std::string bytes = "POST /x HTTP/1.1\r\nHost: a\r\n";
  for (const std::string& part : *rc::gen::container<std::vector<std::string>>(fragment)) bytes += part;
  const std::size_t size = *rc::gen::inRange<std::size_t>(1, 30);
  const Http1Limits limits;
  Http1RequestParser parser(limits);
  const Http1Recording whole = record(parser, bytes, true, all_at_once);
  parser.reset();
  RC_ASSERT(record(parser, bytes, true, [&](std::size_t) { return size; }) == whole);
}

}  // namespace
}  // namespace muster::protocol
