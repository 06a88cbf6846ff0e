#include "target/service_log.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace muster::target {
namespace {

using std::chrono::nanoseconds;

std::string written(const ServiceLog& log) {
  std::FILE* const file = std::tmpfile();
  log.write(file);
  std::rewind(file);
  std::array<char, 4096> text{};
  const std::size_t size = std::fread(text.data(), 1, text.size(), file);
  std::fclose(file);
  return {text.data(), size};
}

base::Instant at(std::int64_t value) {
  return base::Instant(nanoseconds(value));
}

TEST(ServiceLog, writes_the_time_between_the_last_byte_read_and_the_last_byte_written) {
  const Limits limits;
  ServiceLog log(limits);
  const std::size_t first = log.add("/a", at(100), nanoseconds(5));
  const std::size_t second = log.add("/b", at(110), nanoseconds(0));
  log.stamp(second, at(150));
  log.stamp(first, at(107));
  EXPECT_EQ(written(log), "/a,100,7,5\n/b,110,40,0\n");
}

TEST(ServiceLog, leaves_out_what_was_never_answered) {
  const Limits limits;
  ServiceLog log(limits);
  log.add("/a", at(100), nanoseconds(0));
  EXPECT_EQ(written(log), "");
}

TEST(ServiceLog, quotes_paths_that_csv_could_misread) {
  const Limits limits;
  ServiceLog log(limits);
  log.stamp(log.add("/a,\"b", at(1), nanoseconds(0)), at(2));
  EXPECT_EQ(written(log), "\"/a,\"\"b\",1,1,0\n");
}

TEST(ServiceLog, is_bounded_in_requests_and_in_paths) {
  Limits limits;
  limits.max_logged_requests = 4;
  limits.max_logged_paths = 2;
  ServiceLog log(limits);
  for (const char* path : {"/a", "/b", "/c", "/a", "/d"}) log.stamp(log.add(path, at(1), nanoseconds(0)), at(2));
  EXPECT_EQ(written(log), "/a,1,1,0\n/b,1,1,0\n(other),1,1,0\n/a,1,1,0\n");
  EXPECT_EQ(log.dropped(), 1u);
}

}  // namespace
}  // namespace muster::target
