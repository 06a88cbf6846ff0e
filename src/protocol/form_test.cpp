#include "protocol/form.h"

#include <gtest/gtest.h>

namespace muster::protocol {
namespace {

TEST(Form, EncodesNamesAndValues) {
  const std::pair<std::string_view, std::string_view> fields[] = {
      {"user name", "a+b&c=d"}, {"x", ""}, {"\xc3\xa9", "*-._~"}};
  EXPECT_EQ(encode_form(fields), "user+name=a%2Bb%26c%3Dd&x=&%C3%A9=*-._%7E");
}

TEST(Form, NoFieldsGiveAnEmptyBody) {
  EXPECT_EQ(encode_form({}), "");
}

}  // namespace
}  // namespace muster::protocol
