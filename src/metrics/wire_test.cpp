#include "metrics/wire.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace muster::metrics {
namespace {

RC_GTEST_PROP(Wire, ReadsBackWhatWasWritten,
              (std::uint64_t number, std::int64_t signed_number, const std::string& text, bool flag)) {
  std::string bytes;
  Writer writer(bytes);
  writer.varint(number);
  writer.zigzag(signed_number);
  writer.wide_varint(static_cast<unsigned __int128>(number) * number);
  writer.fixed64(number);
  writer.text(text);
  writer.boolean(flag);
  writer.real(0.5);
  Reader reader(bytes);
  RC_ASSERT(reader.varint() == number);
  RC_ASSERT(reader.zigzag() == signed_number);
  RC_ASSERT(reader.wide_varint() == static_cast<unsigned __int128>(number) * number);
  RC_ASSERT(reader.fixed64() == number);
  RC_ASSERT(reader.text(1 << 20) == text);
  RC_ASSERT(reader.boolean() == flag);
  RC_ASSERT(reader.real() == 0.5);
  RC_ASSERT(reader.ok() && reader.at_end());
}

TEST(Wire, KeepsTheExtremesOfEveryWidth) {
  std::string bytes;
  Writer writer(bytes);
  writer.varint(std::numeric_limits<std::uint64_t>::max());
  writer.wide_varint(~static_cast<unsigned __int128>(0));
  writer.zigzag(std::numeric_limits<std::int64_t>::min());
  Reader reader(bytes);
  EXPECT_EQ(reader.varint(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE(reader.wide_varint() == ~static_cast<unsigned __int128>(0));
  EXPECT_EQ(reader.zigzag(), std::numeric_limits<std::int64_t>::min());
  EXPECT_TRUE(reader.ok());
}

TEST(Wire, SmallNumbersTakeOneByte) {
  std::string bytes;
  Writer writer(bytes);
  writer.varint(127);
  writer.zigzag(-64);
  EXPECT_EQ(bytes.size(), 2u);
}

TEST(Wire, FailureSticksAndKeepsItsFirstReason) {
  Reader reader(std::string_view("\x05", 1));
  EXPECT_EQ(reader.text(4), "");
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.varint(), 0u);
  EXPECT_NE(reader.error("result").message.find("longer than the limit of 4"), std::string::npos);
}

TEST(Wire, RefusesNumbersThatAreTooWideOrNotInShortestForm) {
  Reader wide(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10));
  wide.varint();
  EXPECT_FALSE(wide.ok());
  Reader long_zero(std::string_view("\x80\x00", 2));
  long_zero.varint();
  EXPECT_FALSE(long_zero.ok());
}

TEST(Wire, RefusesListsThatCannotBeInTheRemainingBytes) {
  std::string bytes;
  Writer writer(bytes);
  writer.varint(1000);
  bytes.append(100, '\0');
  Reader reader(bytes);
  EXPECT_EQ(reader.length(10'000, 1), 0u);
  EXPECT_FALSE(reader.ok());
}

TEST(Wire, RefusesNumbersThatAreNotFinite) {
  std::string bytes;
  Writer(bytes).real(std::numeric_limits<double>::infinity());
  Reader reader(bytes);
  EXPECT_EQ(reader.real(), 0.0);
  EXPECT_FALSE(reader.ok());
}

}  // namespace
}  // namespace muster::metrics
