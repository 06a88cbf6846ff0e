#include "protocol/multipart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::protocol {
namespace {

using testing::HasSubstr;

TEST(Multipart, WritesFieldsAndFiles) {
  const MultipartPart parts[] = {
      {.name = "user", .bytes = "ann"},
      {.name = "pic", .bytes = std::string_view("\x89\0P", 3), .filename = "a.png", .content_type = "image/png"},
      {.name = "blob", .bytes = "", .filename = "b"},
  };
  const auto body = build_multipart(parts, "xyz");
  ASSERT_TRUE(body.has_value());
  EXPECT_EQ(*body, std::string("--xyz\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\nann\r\n"
                               "--xyz\r\nContent-Disposition: form-data; name=\"pic\"; filename=\"a.png\"\r\n"
                               "Content-Type: image/png\r\n\r\n\x89") +
                       '\0' +
                       "P\r\n--xyz\r\nContent-Disposition: form-data; name=\"blob\"; filename=\"b\"\r\n"
                       "Content-Type: application/octet-stream\r\n\r\n\r\n--xyz--\r\n");
}

TEST(Multipart, NoPartsGiveAnEmptyForm) {
  EXPECT_EQ(*build_multipart({}, "b"), "--b--\r\n");
}

TEST(Multipart, NamesCannotBreakOutOfTheirQuotes) {
  const MultipartPart parts[] = {{.name = "a\"\r\nX: y", .bytes = "", .filename = "\"\n"}};
  const std::string body = *build_multipart(parts, "b");
  EXPECT_THAT(body, HasSubstr("name=\"a%22%0D%0AX: y\"; filename=\"%22%0A\"\r\n"));
}

TEST(Multipart, RefusesBadBoundariesAndContents) {
  const MultipartPart clash[] = {{.name = "a", .bytes = "x--bound y"}};
  EXPECT_THAT(build_multipart(clash, "bound").error().message, HasSubstr("part \"a\" contains the boundary"));
  const MultipartPart type[] = {{.name = "a", .bytes = "", .content_type = "x\r\nY: z"}};
  EXPECT_THAT(build_multipart(type, "b").error().message, HasSubstr("control characters"));
  for (const std::string& boundary : {std::string(), std::string("a\"b"), std::string("a "), std::string(71, 'x')}) {
    EXPECT_FALSE(build_multipart({}, boundary).has_value()) << boundary;
  }
  EXPECT_TRUE(build_multipart({}, std::string(70, 'x')).has_value());
}

TEST(Multipart, ContentTypeQuotesBoundariesThatNeedIt) {
  EXPECT_EQ(multipart_content_type("abc"), "multipart/form-data; boundary=abc");
  EXPECT_EQ(multipart_content_type("a:b"), "multipart/form-data; boundary=\"a:b\"");
}

}  // namespace
}  // namespace muster::protocol
