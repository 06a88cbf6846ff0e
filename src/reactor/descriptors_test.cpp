#include "reactor/descriptors.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <functional>
#include <limits>
#include <string>

namespace muster::reactor {
namespace {

std::uint64_t table_size() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t size = 0;
    if (word == "FDSize:" && status >> size) return size;
  }
  return 0;
}

// In a process of its own, for a table never shrinks.
bool holds_in_a_child(const std::function<bool()>& claim) {
  const pid_t child = fork();
  if (child == 0) _exit(claim() ? 0 : 1);
  int status = 1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void limit_to(rlim_t soft) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = soft;
  setrlimit(RLIMIT_NOFILE, &limit);
}

TEST(Descriptors, ATableIsAsLargeAsWasAskedFor) {
  EXPECT_TRUE(holds_in_a_child([] {
    limit_to(4096);
    if (table_size() >= 3000) return false;
    reserve_descriptors(3000);
    return table_size() >= 3000;
  }));
}

TEST(Descriptors, NoMoreIsReservedThanTheLimitAllows) {
  EXPECT_TRUE(holds_in_a_child([] {
    limit_to(1000);
    reserve_descriptors(std::numeric_limits<std::uint64_t>::max());
    return table_size() >= 1000 && table_size() <= 1024;
  }));
}

TEST(Descriptors, NothingStaysOpen) {
  EXPECT_TRUE(holds_in_a_child([] {
    limit_to(1000);
    const int before = dup(STDERR_FILENO);
    close(before);
    reserve_descriptors(500);
    const int after = dup(STDERR_FILENO);
    return before == after && close(499) != 0;
  }));
}

TEST(Descriptors, WithoutADescriptorLeftNothingHappens) {
  EXPECT_TRUE(holds_in_a_child([] {
    limit_to(0);
    reserve_descriptors(100);
    return true;
  }));
}

TEST(Descriptors, TheSoftLimitRisesToTheHardOne) {
  EXPECT_TRUE(holds_in_a_child([] {
    limit_to(64);
    raise_descriptor_limit();
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur == limit.rlim_max;
  }));
}

}  // namespace
}  // namespace muster::reactor
