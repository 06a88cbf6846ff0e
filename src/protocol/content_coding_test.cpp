#include "protocol/content_coding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <zlib.h>

namespace muster::protocol {
namespace {

using testing::HasSubstr;

constexpr int kGzip = 31;
constexpr int kZlib = 15;
constexpr int kRaw = -15;

std::string deflated(std::string_view text, int window_bits) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string decoded(ContentDecoder& decoder, ContentCoding coding, std::string_view body) {
  std::string out;
  const auto good = decoder.decode(coding, body, out);
  EXPECT_TRUE(good.has_value()) << (good ? "" : good.error().message);
  return out;
}

std::string message_of(ContentCoding coding, std::string_view body, const ContentCodingLimits& limits = {}) {
  ContentDecoder decoder;
  std::string out;
  const auto good = decoder.decode(coding, body, out, limits);
  EXPECT_LE(out.size(), limits.max_output_bytes);
  return good ? "no error" : good.error().message;
}

TEST(ContentCoding, KnowsItsNames) {
  EXPECT_EQ(content_coding(""), ContentCoding::kIdentity);
  EXPECT_EQ(content_coding("Identity"), ContentCoding::kIdentity);
  EXPECT_EQ(content_coding(" GZIP "), ContentCoding::kGzip);
  EXPECT_EQ(content_coding("x-gzip"), ContentCoding::kGzip);
  EXPECT_EQ(content_coding("deflate"), ContentCoding::kDeflate);
  EXPECT_EQ(content_coding("br"), std::nullopt);
  EXPECT_EQ(content_coding("gzip, gzip"), std::nullopt);
}

TEST(ContentCoding, OneDecoderReadsAllFormatsInTurn) {
  ContentDecoder decoder;
  const std::string text(100'000, 'x');
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(decoded(decoder, ContentCoding::kGzip, deflated(text, kGzip)), text);
    EXPECT_EQ(decoded(decoder, ContentCoding::kDeflate, deflated(text, kZlib)), text);
    EXPECT_EQ(decoded(decoder, ContentCoding::kDeflate, deflated(text, kRaw)), text);
    EXPECT_EQ(decoded(decoder, ContentCoding::kIdentity, "plain"), "plain");
  }
}

TEST(ContentCoding, EmptyBodiesAreGood) {
  ContentDecoder decoder;
  for (const ContentCoding coding : {ContentCoding::kIdentity, ContentCoding::kGzip, ContentCoding::kDeflate}) {
    EXPECT_EQ(decoded(decoder, coding, ""), "");
  }
  EXPECT_EQ(decoded(decoder, ContentCoding::kGzip, deflated("", kGzip)), "");
  EXPECT_EQ(decoded(decoder, ContentCoding::kDeflate, deflated("", kRaw)), "");
}

TEST(ContentCoding, ReadsSeveralGzipMembersAndDropsPadding) {
  ContentDecoder decoder;
  const std::string two = deflated("ab", kGzip) + deflated("cd", kGzip);
  EXPECT_EQ(decoded(decoder, ContentCoding::kGzip, two), "abcd");
  EXPECT_EQ(decoded(decoder, ContentCoding::kGzip, two + std::string(5, '\0')), "abcd");
  EXPECT_EQ(decoded(decoder, ContentCoding::kDeflate, deflated("ab", kZlib) + "\x1f\x8b"), "ab");
}

// Padding that held the first byte of a gzip header was read as a member when it came in parts.
TEST(ContentCoding, PaddingStaysPaddingInParts) {
  ContentDecoder decoder;
  std::string out;
  ASSERT_TRUE(decoder.start(ContentCoding::kGzip).has_value());
  for (const char c : deflated("ab", kGzip) + std::string("\xfd\x1f\0\xf4", 4)) {
    ASSERT_TRUE(decoder.write({&c, 1}, out).has_value());
  }
  EXPECT_TRUE(decoder.finish().has_value());
  EXPECT_EQ(out, "ab");
}

TEST(ContentCoding, RefusesBombs) {
  ContentCodingLimits limits;
  limits.max_output_bytes = 1000;
  EXPECT_THAT(message_of(ContentCoding::kGzip, deflated(std::string(1001, 'x'), kGzip), limits),
              HasSubstr("limit of 1000"));
  EXPECT_EQ(message_of(ContentCoding::kGzip, deflated(std::string(1000, 'x'), kGzip), limits), "no error");
  EXPECT_THAT(message_of(ContentCoding::kGzip, deflated(std::string(10'000'000, 'x'), kGzip), limits),
              HasSubstr("bomb"));
  EXPECT_THAT(message_of(ContentCoding::kIdentity, std::string(1001, 'x'), limits), HasSubstr("limit of 1000"));
}

TEST(ContentCoding, SaysWhatIsWrongWithABody) {
  EXPECT_THAT(message_of(ContentCoding::kGzip, "plain text"), HasSubstr("not valid gzip"));
  EXPECT_THAT(message_of(ContentCoding::kDeflate, "\xff\xff\xff"), HasSubstr("not valid deflate"));
  const std::string whole = deflated("some text", kGzip);
  EXPECT_THAT(message_of(ContentCoding::kGzip, whole.substr(0, whole.size() - 1)), HasSubstr("cut off"));
  EXPECT_THAT(message_of(ContentCoding::kDeflate, "x"), HasSubstr("cut off"));
  EXPECT_THAT(message_of(ContentCoding::kGzip, whole + whole.substr(0, 5)), HasSubstr("cut off"));
  // A preset dictionary, which HTTP does not know.
  EXPECT_THAT(message_of(ContentCoding::kDeflate, "\x78\xbb\x01\x02\x03\x04"), HasSubstr("not valid deflate"));
}

TEST(ContentCoding, AnErrorDoesNotSpoilTheNextBody) {
  ContentDecoder decoder;
  std::string out;
  EXPECT_FALSE(decoder.decode(ContentCoding::kGzip, "nonsense", out).has_value());
  EXPECT_EQ(decoded(decoder, ContentCoding::kGzip, deflated("fine", kGzip)), "fine");
  ContentDecoder moved = std::move(decoder);
  EXPECT_EQ(decoded(moved, ContentCoding::kGzip, deflated("fine", kGzip)), "fine");
}

RC_GTEST_PROP(ContentCodingProperty, PartsDecodeLikeTheWhole, (const std::string& text)) {
  const int window_bits = *rc::gen::element(kGzip, kZlib, kRaw);
  const std::size_t size = *rc::gen::inRange<std::size_t>(1, 9);
  const std::string body = deflated(text, window_bits);
  ContentDecoder decoder;
  RC_ASSERT(decoder.start(window_bits == kGzip ? ContentCoding::kGzip : ContentCoding::kDeflate).has_value());
  std::string out;
  for (std::size_t at = 0; at < body.size(); at += size) {
    RC_ASSERT(decoder.write(std::string_view(body).substr(at, size), out).has_value());
  }
  RC_ASSERT(decoder.finish().has_value());
  RC_ASSERT(out == text);
}

}  // namespace
}  // namespace muster::protocol
