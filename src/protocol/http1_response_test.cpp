#include "protocol/http1_response.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "protocol/http1_recording.h"

namespace muster::protocol {
namespace {

using testing::ElementsAre;

struct How {
  bool head = false;
  bool close = false;
  Http1Limits limits = {};
};

// Reads whole, byte by byte, and in pieces of every small size, expects the same each time, and gives that back.
Http1Recording read(std::string_view bytes, const How& how = {}) {
  Http1ResponseParser parser(how.limits);
  parser.reset(how.head);
  const Http1Recording whole = record(parser, bytes, how.close, all_at_once);
  for (std::size_t size : {1u, 2u, 3u, 5u, 7u, 16u, 17u, 40u}) {
    parser.reset(how.head);
    EXPECT_EQ(record(parser, bytes, how.close, [size](std::size_t) { return size; }), whole) << "pieces of " << size;
  }
  for (std::size_t cut = 1; cut < std::min<std::size_t>(bytes.size(), 200); ++cut) {
    parser.reset(how.head);
    bool first = true;
    const auto once = [&](std::size_t left) { return std::exchange(first, false) ? cut : left; };
    EXPECT_EQ(record(parser, bytes, how.close, once), whole) << "cut at " << cut;
  }
  return whole;
}

Http1Error error_of(std::string_view bytes, const How& how = {}) {
  const Http1Recording recording = read(bytes, how);
  EXPECT_EQ(recording.state == ParseState::kError, recording.error != Http1Error::kNone);
  return recording.error;
}

// A response with these header lines and nothing else in the way.
std::string with(std::string_view headers, std::string_view body = "") {
  return std::string("HTTP/1.1 200 OK\r\n").append(headers).append("\r\n").append(body);
}

TEST(Http1Response, ReadsStatusHeadersAndBodyOfKnownLength) {
  const Http1Recording r = read("HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_EQ(r.state, ParseState::kComplete);
  EXPECT_THAT(r.events, ElementsAre("status 200 OK", "header Server=x", "header Content-Length=5", "end", "body"));
  EXPECT_EQ(r.body, "hello");
  EXPECT_TRUE(r.keep_alive);
  EXPECT_EQ(r.content_length, 5u);
}

TEST(Http1Response, StopsExactlyAtItsEndAndLeavesTheNextMessage) {
  const Http1Limits limits;
  Http1ResponseParser parser(limits);
  Http1ResponseSink sink;
  const std::string first = with("Content-Length: 2\r\n", "ab");
  const std::string both = first + first;
  EXPECT_EQ(parser.feed(both, sink).consumed, first.size());
  EXPECT_EQ(parser.feed(both, sink).consumed, 0u) << "a finished parser takes nothing until reset";
  parser.reset(false);
  const FeedResult second = parser.feed(std::string_view(both).substr(first.size()), sink);
  EXPECT_EQ(second.consumed, first.size());
  EXPECT_EQ(second.state, ParseState::kComplete);
}

TEST(Http1Response, IsSmallAndHoldsNoLineBetweenMessages) {
  EXPECT_LE(sizeof(Http1ResponseParser), 64u);
}

TEST(Http1Response, EmptyFeedChangesNothing) {
  const Http1Limits limits;
  Http1ResponseParser parser(limits);
  Http1ResponseSink sink;
  EXPECT_EQ(parser.feed({}, sink).state, ParseState::kNeedMore);
  EXPECT_FALSE(parser.started());
  parser.feed("H", sink);
  EXPECT_TRUE(parser.started());
}

TEST(Http1Response, AcceptsAMissingReasonWithAndWithoutItsSpace) {
  EXPECT_EQ(read("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n").events.front(), "status 200 ");
  EXPECT_EQ(read("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n").events.front(), "status 200 ");
  EXPECT_EQ(read("HTTP/1.1 299 \xc3\xa9\tx\r\nContent-Length: 0\r\n\r\n").events.front(), "status 299 \xc3\xa9\tx");
}

TEST(Http1Response, RefusesWhatIsNoStatusLine) {
  for (const char* line : {"", "HTTP", "HTTP/1.1", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 099 OK",
                           "HTTP/1.1  200 OK", "HTTP/1.1 2x0 OK", "http/1.1 200 OK", "HTTP/1.1\t200 OK",
                           "HTTP/1.1 -20 OK", "HTTP/1.1 200\tOK", "ICY 200 OK and more", "SSH-2.0-OpenSSH_9.2p1",
                           "HTTP/1.1 200 O\x01K", "HTTP/1.1 200 O\rK", " HTTP/1.1 200 OK"}) {
    EXPECT_EQ(error_of(std::string(line) + "\r\n\r\n"), Http1Error::kBadStatusLine) << line;
  }
}

TEST(Http1Response, RefusesWhatCannotBecomeAStatusLineBeforeTheLineEnds) {
  for (const char* bytes : {"+", "+PONG", "<html>hi</html>", "\x15\x03\x01", "\r", "HTTP\r", "HTTPS", "HTTP/1.1x",
                            "HTTP/1.1 x", "HTTP/1.1 0", "HTTP/1.1 20 ", "HTTP/1.1 20\r", "HTTP/1.1 2000"}) {
    EXPECT_EQ(error_of(bytes), Http1Error::kBadStatusLine) << bytes;
    EXPECT_EQ(error_of(bytes, {.close = true}), Http1Error::kBadStatusLine) << bytes;
  }
  for (const char* bytes : {"HTTP/2", "HTTP/\r", "HTTP/1\r", "HTTP/1.\r", "HTTP/1.x", "HTTP/11"}) {
    EXPECT_EQ(error_of(bytes), Http1Error::kBadVersion) << bytes;
    EXPECT_EQ(error_of(std::string(bytes) + "\r\n"), Http1Error::kBadVersion) << bytes;
  }
  for (const char* bytes : {"H", "HTTP/1.", "HTTP/1.0 5", "HTTP/1.1 200", "HTTP/1.1 200\r", "HTTP/1.1 200 O"}) {
    EXPECT_EQ(read(bytes).state, ParseState::kNeedMore) << bytes;
    EXPECT_EQ(error_of(bytes, {.close = true}), Http1Error::kTruncated) << bytes;
  }
  EXPECT_EQ(error_of("HTTP/1.1 100 Continue\r\n\r\nHTTQ"), Http1Error::kBadStatusLine);
}

TEST(Http1Response, HasNoStatusAfterABadStatusLine) {
  for (const auto next_piece : {all_at_once, one_byte}) {
    const Http1Limits limits;
    Http1ResponseParser parser(limits);
    record(parser, "HTTP/1.1 200C\r\n", false, next_piece);
    EXPECT_EQ(parser.status(), 0);
  }
}

TEST(Http1Response, TellsThatItIsNoStatusLineBeforeItTellsOfLimitsAndLineEnds) {
  How small;
  small.limits.max_line_bytes = 40;
  const std::string prose(50, 'x');
  EXPECT_EQ(error_of(prose, small), Http1Error::kBadStatusLine);
  EXPECT_EQ(error_of(prose + "\r\n", small), Http1Error::kBadStatusLine);
  EXPECT_EQ(error_of("HTTP/1.1 200 " + prose + "\r\n", small), Http1Error::kLineTooLong);
  small.limits = {.max_header_bytes = 20};
  EXPECT_EQ(error_of(prose + "\r\n", small), Http1Error::kBadStatusLine);
  EXPECT_EQ(error_of("HTTP/1.1 200 " + prose + "\r\n", small), Http1Error::kHeadersTooLarge);
  EXPECT_EQ(error_of("+PONG\n"), Http1Error::kBadStatusLine);
  EXPECT_EQ(error_of("HTTP/1.\n"), Http1Error::kBareLineFeed);
}

TEST(Http1Response, RefusesOtherMajorVersions) {
  for (const char* line : {"HTTP/2.0 200 OK", "HTTP/2 200", "HTTP/0.9 200 OK", "HTTP/1.x 200 OK", "HTTP/11.1 200 OK"}) {
    EXPECT_EQ(error_of(std::string(line) + "\r\n\r\n"), Http1Error::kBadVersion) << line;
  }
}

TEST(Http1Response, ReadsLaterMinorVersionsAs11) {
  EXPECT_TRUE(read("HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n").keep_alive);
}

TEST(Http1Response, TrimsValuesAndKeepsNamesAsWritten) {
  const Http1Recording r =
      read(with("lower: \t a b \t \r\nX-Empty:\r\nX-Blank:   \r\ncontent-LENGTH:0\r\nX_y!: \x80\xff\r\n"));
  EXPECT_THAT(r.events, ElementsAre("status 200 OK", "header lower=a b", "header X-Empty=", "header X-Blank=",
                                    "header content-LENGTH=0", "header X_y!=\x80\xff", "end"));
  EXPECT_EQ(r.state, ParseState::kComplete);
}

TEST(Http1Response, RefusesBadHeaderLines) {
  EXPECT_EQ(error_of(with("Name : x\r\n")), Http1Error::kSpaceBeforeColon);
  EXPECT_EQ(error_of(with("Name\t: x\r\n")), Http1Error::kSpaceBeforeColon);
  EXPECT_EQ(error_of(with("Name\r\n")), Http1Error::kBadHeaderName);
  EXPECT_EQ(error_of(with(": x\r\n")), Http1Error::kBadHeaderName);
  EXPECT_EQ(error_of(with("Na me: x\r\n")), Http1Error::kBadHeaderName);
  EXPECT_EQ(error_of(with("Na(me: x\r\n")), Http1Error::kBadHeaderName);
  EXPECT_EQ(error_of(with("N\xc3\xa4me: x\r\n")), Http1Error::kBadHeaderName);
  EXPECT_EQ(error_of(with(std::string_view("A: x\0y\r\n", 8))), Http1Error::kBadHeaderValue);
  EXPECT_EQ(error_of(with(std::string_view("A\0: y\r\n", 7))), Http1Error::kBadHeaderName);
  EXPECT_EQ(error_of(with("A: x\ry\r\n")), Http1Error::kBadHeaderValue);
  EXPECT_EQ(error_of(with("A: x\r\r\n")), Http1Error::kBadHeaderValue);
  EXPECT_EQ(error_of(with("A: x\x7f\r\n")), Http1Error::kBadHeaderValue);
}

TEST(Http1Response, RefusesFoldedHeaders) {
  EXPECT_EQ(error_of(with("A: x\r\n y\r\n")), Http1Error::kObsoleteFold);
  EXPECT_EQ(error_of(with("A: x\r\n\ty\r\n")), Http1Error::kObsoleteFold);
  EXPECT_EQ(error_of(with(" A: x\r\n")), Http1Error::kObsoleteFold);
}

TEST(Http1Response, RefusesLinesThatEndWithLineFeedAloneUnlessAllowed) {
  const std::string_view bytes = "HTTP/1.1 200 OK\nA: x\nContent-Length: 2\n\nok";
  EXPECT_EQ(error_of(bytes), Http1Error::kBareLineFeed);
  EXPECT_EQ(error_of("HTTP/1.1 200 OK\r\nA: x\nB: y\r\n\r\n"), Http1Error::kBareLineFeed);
  How lenient;
  lenient.limits.allow_bare_lf = true;
  const Http1Recording r = read(bytes, lenient);
  EXPECT_EQ(r.body, "ok");
  EXPECT_THAT(r.events, ElementsAre("status 200 OK", "header A=x", "header Content-Length=2", "end", "body"));
  EXPECT_EQ(error_of("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1\nx\r\n", lenient), Http1Error::kBareLineFeed);
}

TEST(Http1Response, AcceptsOnlyPlainContentLengths) {
  for (const char* value : {"", "-1", "+1", "1 2", "0x10", "1.0", "abc", "1,", ",1", "18446744073709551616",
                            "99999999999999999999999", "1;1", "\xb2"}) {
    EXPECT_EQ(error_of(with(std::string("Content-Length: ") + value + "\r\n")), Http1Error::kBadContentLength) << value;
  }
  EXPECT_EQ(read(with("Content-Length: 0000000000000000000000002\r\n", "ab")).body, "ab");
}

TEST(Http1Response, AcceptsRepeatedContentLengthOnlyIfEqual) {
  EXPECT_EQ(read(with("Content-Length: 2\r\nContent-Length: 2\r\n", "ab")).body, "ab");
  EXPECT_EQ(read(with("Content-Length: 2, 2\r\n", "ab")).body, "ab");
  EXPECT_EQ(error_of(with("Content-Length: 2\r\nContent-Length: 3\r\n")), Http1Error::kConflictingContentLength);
  EXPECT_EQ(error_of(with("Content-Length: 2, 3\r\n")), Http1Error::kConflictingContentLength);
}

TEST(Http1Response, HasNoBodyWhereTheRequestOrStatusForbidsOne) {
  const std::string bytes = with("Content-Length: 5\r\n");
  EXPECT_EQ(read(bytes, {.head = true}).state, ParseState::kComplete);
  EXPECT_EQ(read(bytes, {.head = true}).content_length, 5u);
  EXPECT_EQ(read(with("Transfer-Encoding: chunked\r\n"), {.head = true}).state, ParseState::kComplete);
  EXPECT_EQ(read("HTTP/1.1 204 No Content\r\n\r\n").state, ParseState::kComplete);
  EXPECT_EQ(read("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n").state, ParseState::kComplete);
  EXPECT_TRUE(read("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n").keep_alive);
}

TEST(Http1Response, ReadsUntilCloseWhereNothingSaysHowLong) {
  EXPECT_EQ(read(with("", "abc")).state, ParseState::kNeedMore);
  const Http1Recording r = read(with("", "abc"), {.close = true});
  EXPECT_EQ(r.state, ParseState::kComplete);
  EXPECT_EQ(r.body, "abc");
  EXPECT_FALSE(r.keep_alive);
  EXPECT_EQ(read(with(""), {.close = true}).state, ParseState::kComplete);
}

TEST(Http1Response, SaysWhetherAClosedConnectionSentAnything) {
  EXPECT_EQ(error_of("", {.close = true}), Http1Error::kClosedBeforeMessage);
  EXPECT_EQ(error_of("H", {.close = true}), Http1Error::kTruncated);
  EXPECT_EQ(error_of(with("Content-Length: 5\r\n", "abc"), {.close = true}), Http1Error::kTruncated);
  EXPECT_EQ(error_of("HTTP/1.1 200 OK\r\nA: b\r\n", {.close = true}), Http1Error::kTruncated);
  EXPECT_EQ(error_of(with("Transfer-Encoding: chunked\r\n", "1\r\nx\r\n"), {.close = true}), Http1Error::kTruncated);
  EXPECT_EQ(error_of(with("Transfer-Encoding: chunked\r\n", "1\r\nx\r\n0\r\n"), {.close = true}),
            Http1Error::kTruncated);
  EXPECT_EQ(error_of("HTTP/1.1 100 Continue\r\n\r\n", {.close = true}), Http1Error::kTruncated);
}

TEST(Http1Response, FinishAfterTheEndOrAnErrorKeepsTheOutcome) {
  const Http1Limits limits;
  Http1ResponseParser parser(limits);
  Http1ResponseSink sink;
  parser.feed(with("Content-Length: 0\r\n"), sink);
  EXPECT_EQ(parser.finish(sink), ParseState::kComplete);
  parser.reset(false);
  parser.feed("nonsense\r\n", sink);
  EXPECT_EQ(parser.finish(sink), ParseState::kError);
  EXPECT_EQ(parser.error(), Http1Error::kBadStatusLine);
  EXPECT_EQ(parser.feed("HTTP/1.1 200 OK\r\n", sink).state, ParseState::kError);
  EXPECT_THAT(std::string(parser.error_text()), testing::HasSubstr("status line"));
}

TEST(Http1Response, KeepAliveFollowsVersionAndConnectionHeader) {
  const auto keep = [](std::string_view version, std::string_view header) {
    return read(std::string(version).append(" 200 OK\r\nContent-Length: 0\r\n").append(header).append("\r\n"))
        .keep_alive;
  };
  EXPECT_TRUE(keep("HTTP/1.1", ""));
  EXPECT_TRUE(keep("HTTP/1.1", "Connection: keep-alive\r\n"));
  EXPECT_FALSE(keep("HTTP/1.1", "Connection: close\r\n"));
  EXPECT_FALSE(keep("HTTP/1.1", "connection: Upgrade , CLOSE\r\n"));
  EXPECT_FALSE(keep("HTTP/1.1", "Connection: keep-alive\r\nConnection: close\r\n"));
  EXPECT_TRUE(keep("HTTP/1.1", "Connection: closed\r\nConnectiom: close\r\nkeep-alive: close\r\n"));
  EXPECT_FALSE(keep("HTTP/1.0", ""));
  EXPECT_TRUE(keep("HTTP/1.0", "Connection: Keep-Alive\r\n"));
  EXPECT_FALSE(keep("HTTP/1.0", "Connection: keep-alive, close\r\n"));
}

TEST(Http1Response, ReadsChunksExtensionsAndTrailers) {
  const Http1Recording r =
      read(with("Transfer-Encoding: chunked\r\n",
                "5\r\nhello\r\nA;name=\"v\"\r\n, world...\r\n1  \r\n!\r\n0\r\nT: 1\r\nU:\r\n\r\n"));
  EXPECT_EQ(r.state, ParseState::kComplete);
  EXPECT_EQ(r.body, "hello, world...!");
  EXPECT_THAT(r.events, ElementsAre("status 200 OK", "header Transfer-Encoding=chunked", "end", "body", "trailer T=1",
                                    "trailer U="));
  EXPECT_TRUE(r.keep_alive);
}

TEST(Http1Response, ReadsAnEmptyChunkedBody) {
  EXPECT_EQ(read(with("Transfer-Encoding: chunked\r\n", "0\r\n\r\n")).state, ParseState::kComplete);
  EXPECT_EQ(read(with("Transfer-Encoding: chunked\r\n", "000;x\r\n\r\n")).state, ParseState::kComplete);
}

TEST(Http1Response, RefusesBadChunks) {
  const auto error = [](std::string_view body) { return error_of(with("Transfer-Encoding: chunked\r\n", body)); };
  for (const char* body : {"\r\n", "x\r\n", "-1\r\n", "+1\r\n", " 1\r\n", "0x1\r\n", ";a\r\n", "1 2\r\n", "1,\r\n",
                           "10000000000000000\r\n", "fffffffffffffffff\r\n"}) {
    EXPECT_EQ(error(body), Http1Error::kBadChunkSize) << body;
  }
  EXPECT_EQ(error("ffffffffffffffff\r\n"), Http1Error::kBodyTooLarge);
  EXPECT_EQ(error("1;a\x01\r\n"), Http1Error::kBadChunkExtension);
  EXPECT_EQ(error("1;a\rb\r\n"), Http1Error::kBadChunkExtension);
  EXPECT_EQ(error("1\nx\r\n"), Http1Error::kBareLineFeed);
  EXPECT_EQ(error("1\r\nxy\r\n"), Http1Error::kBadChunkEnd);
  EXPECT_EQ(error("1\r\nx\n"), Http1Error::kBadChunkEnd);
  EXPECT_EQ(error("1\r\nx\ry"), Http1Error::kBadChunkEnd);
  EXPECT_EQ(error("0\r\nbad trailer\r\n\r\n"), Http1Error::kBadHeaderName);
  EXPECT_EQ(error("0\r\nA: b\r\n c\r\n\r\n"), Http1Error::kObsoleteFold);
}

TEST(Http1Response, TransferEncodingOverridesContentLengthAndEndsTheConnection) {
  const Http1Recording r = read(with("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "1\r\nx\r\n0\r\n\r\n"));
  EXPECT_EQ(r.body, "x");
  EXPECT_FALSE(r.keep_alive);
  EXPECT_EQ(r.content_length, std::nullopt);
}

TEST(Http1Response, TransferEncodingInHttp10EndsTheConnection) {
  const Http1Recording r =
      read("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n");
  EXPECT_EQ(r.body, "x");
  EXPECT_FALSE(r.keep_alive);
}

TEST(Http1Response, UnknownLastTransferCodingReadsUntilClose) {
  const Http1Recording r =
      read(with("Transfer-Encoding: chunked, gzip\r\nContent-Length: 1\r\n", "abc"), {.close = true});
  EXPECT_EQ(r.state, ParseState::kComplete);
  EXPECT_EQ(r.body, "abc");
  EXPECT_FALSE(r.keep_alive);
  EXPECT_EQ(read(with("Transfer-Encoding: gzip\r\nTransfer-Encoding: Chunked\r\n", "1\r\nz\r\n0\r\n\r\n")).body, "z");
}

TEST(Http1Response, RefusesMeaninglessTransferEncodings) {
  EXPECT_EQ(error_of(with("Transfer-Encoding:\r\n")), Http1Error::kBadTransferEncoding);
  EXPECT_EQ(error_of(with("Transfer-Encoding: chunked,\r\n")), Http1Error::kBadTransferEncoding);
  EXPECT_EQ(error_of(with("Transfer-Encoding: chunked, chunked\r\n")), Http1Error::kBadTransferEncoding);
  EXPECT_EQ(error_of(with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")),
            Http1Error::kBadTransferEncoding);
}

TEST(Http1Response, SkipsInterimResponsesAndTheirHeaders) {
  const Http1Recording r = read(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\nContent-Length: 9\r\nConnection: "
      "close\r\n\r\n"
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
  EXPECT_THAT(r.events,
              ElementsAre("interim 100", "interim 103", "status 200 OK", "header Content-Length=1", "end", "body"));
  EXPECT_EQ(r.body, "x");
  EXPECT_TRUE(r.keep_alive);
}

TEST(Http1Response, CapsInterimResponses) {
  How how;
  how.limits.max_interim = 2;
  std::string bytes;
  for (int i = 0; i < 2; ++i) bytes += "HTTP/1.1 102 Processing\r\n\r\n";
  EXPECT_EQ(read(bytes + with("Content-Length: 0\r\n"), how).state, ParseState::kComplete);
  bytes += "HTTP/1.1 102 Processing\r\n\r\n";
  EXPECT_EQ(error_of(bytes, how), Http1Error::kTooManyInterim);
}

TEST(Http1Response, InterimResponsesKeepTheHeadFlag) {
  EXPECT_EQ(read("HTTP/1.1 100 Continue\r\n\r\n" + with("Content-Length: 5\r\n"), {.head = true}).state,
            ParseState::kComplete);
}

TEST(Http1Response, SwitchingProtocolsIsFinalAndLeavesTheRest) {
  const std::string head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nContent-Length: 4\r\n\r\n";
  const Http1Recording r = read(head + "\x81\x05hello");
  EXPECT_EQ(r.state, ParseState::kComplete);
  EXPECT_EQ(r.consumed, head.size());
  EXPECT_EQ(r.events.front(), "status 101 Switching Protocols");
  EXPECT_FALSE(r.keep_alive);
}

TEST(Http1Response, HoldsLinesToTheirLimit) {
  How how;
  how.limits.max_line_bytes = 30;  // without LF, with CR
  EXPECT_EQ(read(with("A: " + std::string(26, 'x') + "\r\n"), how).state, ParseState::kNeedMore);
  EXPECT_EQ(error_of(with("A: " + std::string(27, 'x') + "\r\n"), how), Http1Error::kLineTooLong);
  EXPECT_EQ(error_of(with("A: " + std::string(28, 'x')), how), Http1Error::kLineTooLong);
  EXPECT_EQ(error_of("HTTP/1.1 200 " + std::string(17, 'x') + "\r\n", how), Http1Error::kLineTooLong);
  EXPECT_EQ(error_of("HTTP/1.1 200 " + std::string(18, 'x'), how), Http1Error::kLineTooLong);
  EXPECT_EQ(error_of(with("Transfer-Encoding: chunked\r\n", "1;" + std::string(40, 'x')), how),
            Http1Error::kLineTooLong);
}

TEST(Http1Response, HoldsHeadersToTheirLimits) {
  How how;
  how.limits.max_headers = 2;
  EXPECT_EQ(read(with("A: 1\r\nB: 2\r\n"), how).state, ParseState::kNeedMore);
  EXPECT_EQ(error_of(with("A: 1\r\nB: 2\r\nC: 3\r\n"), how), Http1Error::kTooManyHeaders);
  how.limits = {};
  how.limits.max_header_bytes = 17 + 6;
  EXPECT_EQ(read(with("A: 1\r\n"), how).state, ParseState::kNeedMore);
  EXPECT_EQ(error_of(with("A: 12\r\n"), how), Http1Error::kHeadersTooLarge);
}

TEST(Http1Response, HoldsBodiesToTheirLimit) {
  How how;
  how.limits.max_body_bytes = 3;
  EXPECT_EQ(read(with("Content-Length: 3\r\n", "abc"), how).state, ParseState::kComplete);
  EXPECT_EQ(error_of(with("Content-Length: 4\r\n", "abcd"), how), Http1Error::kBodyTooLarge);
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  EXPECT_EQ(read(with(chunked, "2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"), how).body, "abc");
  EXPECT_EQ(error_of(with(chunked, "2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n"), how), Http1Error::kBodyTooLarge);
  EXPECT_EQ(read(with("", "abc"), how).body, "abc");
  const Http1Recording r = read(with("", "abcd"), how);
  EXPECT_EQ(r.error, Http1Error::kBodyTooLarge);
  EXPECT_EQ(r.body, "abc");
  EXPECT_EQ(read(with("Content-Length: 4\r\n"), {.head = true, .limits = how.limits}).state, ParseState::kComplete);
}

TEST(Http1Response, HoldsChunkExtensionsAndTrailersToTheirLimits) {
  How how;
  how.limits.max_chunk_extension_bytes = 4;
  how.limits.max_trailers = 1;
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  EXPECT_EQ(read(with(chunked, "1;a\r\nx\r\n1;b\r\ny\r\n0\r\n\r\n"), how).state, ParseState::kComplete);
  EXPECT_EQ(error_of(with(chunked, "1;a\r\nx\r\n1;bc\r\ny\r\n0\r\n\r\n"), how), Http1Error::kChunkExtensionsTooLarge);
  EXPECT_EQ(read(with(chunked, "0\r\nA: 1\r\n\r\n"), how).state, ParseState::kComplete);
  EXPECT_EQ(error_of(with(chunked, "0\r\nA: 1\r\nB: 2\r\n\r\n"), how), Http1Error::kTooManyTrailers);
  how.limits.max_header_bytes = 60;
  EXPECT_EQ(error_of(with(chunked, "0\r\nA: " + std::string(60, 'x') + "\r\n\r\n"), how), Http1Error::kHeadersTooLarge);
}

TEST(Http1Response, EveryErrorHasASentence) {
  for (int i = 0; i <= static_cast<int>(Http1Error::kTruncated); ++i) {
    EXPECT_GT(describe(static_cast<Http1Error>(i)).size(), 7u) << i;
    EXPECT_NE(describe(static_cast<Http1Error>(i)), "unknown error") << i;
  }
}

// Builds messages out of fragments that matter to the parser, so that random ones get deep into it.
rc::Gen<std::string> some_response() {
  const auto fragment = rc::gen::element<std::string>(
      "HTTP/1.1 200 OK\r\n", "HTTP/1.0 404 \r\n", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 204 x\r\n", "\r\n", "\n",
      "\r", "A: b\r\n", "Content-Length: 3\r\n", "Content-Length: 4\r\n", "Transfer-Encoding: chunked\r\n",
      "Connection: close\r\n", "X: \t y \r\n", "\r\n\r\n", "1\r\nx\r\n", "3;e\r\nabc\r\n", "0\r\n", "abc", " ", ":",
      "Long-Header-Name-Here: and a long value\r\n");
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(fragment),
                      [](const std::vector<std::string>& parts) {
                        std::string bytes = "HTTP/1.1 200 OK\r\n";
                        for (const std::string& part : parts) bytes += part;
                        return bytes;
                      });
}

RC_GTEST_PROP(Http1ResponseProperty, EverySplitGivesTheSameEvents, ()) {
  const std::string bytes = *some_response();
  const std::vector<std::size_t> sizes =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 30)));
  const bool head = *rc::gen::arbitrary<bool>();
  Http1Limits limits;
  limits.max_line_bytes = 64;
  limits.max_headers = 6;
  Http1ResponseParser parser(limits);
  parser.reset(head);
  const Http1Recording whole = record(parser, bytes, true, all_at_once);
  parser.reset(head);
  std::size_t turn = 0;
  RC_ASSERT(record(parser, bytes, true, [&](std::size_t) { return sizes[turn++ % sizes.size()]; }) == whole);
}

}  // namespace
}  // namespace muster::protocol
