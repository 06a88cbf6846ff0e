#include "sim/disk.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace muster::sim {
namespace {

TEST(SimDisk, HoldsAWriteOnlyOnceItIsAnswered) {
  Disk disk;
  base::Random random(1);
  const WriteTicket ticket = disk.append("log", "abc");
  EXPECT_EQ(disk.contents("log"), "");
  disk.take(0, {}, random);
  const auto answers = disk.finish(random);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].ticket, ticket);
  EXPECT_TRUE(answers[0].ok);
  EXPECT_EQ(disk.contents("log"), "abc");
}

TEST(SimDisk, CarriesOutWhatWaitedTogetherAndInOrder) {
  Disk disk;
  base::Random random(1);
  disk.append("log", "abc");
  disk.truncate("log", 1);
  disk.append("log", "d");
  disk.replace("other", "x");
  disk.take(0, {}, random);
  disk.append("log", "late");
  EXPECT_EQ(disk.finish(random).size(), 4u);
  EXPECT_EQ(disk.contents("log"), "ad");
  EXPECT_EQ(disk.contents("other"), "x");
  EXPECT_TRUE(disk.waiting());
}

TEST(SimDisk, ACrashKeepsABeginningOfTheWritesAndPerhapsHalfOfTheNext) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Disk disk;
    base::Random random(seed);
    disk.append("log", "ab");
    disk.append("log", "cd");
    disk.crash(random, false);
    seen.emplace(disk.contents("log"));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"", "a", "ab", "abc", "abcd"}));
}

TEST(SimDisk, AReplaceIsWholeOrNothing) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Disk disk;
    base::Random random(seed);
    disk.append("state", "old");
    disk.take(0, {}, random);
    disk.finish(random);
    disk.replace("state", "new");
    disk.crash(random, false);
    seen.emplace(disk.contents("state"));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"old", "new"}));
}

TEST(SimDisk, AFullDiskFailsAppendsAndMayKeepABeginning) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Disk disk;
    base::Random random(seed);
    disk.trouble().full = true;
    disk.append("log", "ab");
    disk.take(0, {}, random);
    const auto answers = disk.finish(random);
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_FALSE(answers[0].ok);
    seen.emplace(disk.contents("log"));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"", "a", "ab"}));
}

TEST(SimDisk, WritesNothingBehindAWriteThatFailed) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Disk disk;
    base::Random random(seed);
    disk.trouble().full = true;
    disk.append("log", "ab");
    disk.truncate("log", 0);
    disk.take(0, {}, random);
    const auto answers = disk.finish(random);
    ASSERT_EQ(answers.size(), 2u);
    EXPECT_FALSE(answers[1].ok);
  }
}

TEST(SimDisk, WhatIsAskedForBeforeAFailureWasHeardOfFailsToo) {
  Disk disk;
  base::Random random(1);
  disk.trouble().full = true;
  disk.replace("body", "ab");
  disk.take(0, {}, random);
  const auto failed = disk.finish(random);
  disk.trouble().full = false;
  disk.replace("body", "ab");
  disk.take(0, {}, random);
  EXPECT_FALSE(disk.finish(random).at(0).ok);
  disk.heard(failed.at(0));
  disk.replace("body", "ab");
  disk.take(0, {}, random);
  EXPECT_TRUE(disk.finish(random).at(0).ok);
  EXPECT_EQ(disk.contents("body"), "ab");
}

TEST(SimDisk, AFileThatFailedDoesNotTakeTheOthersWithIt) {
  Disk disk;
  base::Random random(1);
  disk.trouble().full = true;
  disk.replace("body", "ab");
  disk.take(0, {}, random);
  disk.finish(random);
  disk.trouble().full = false;
  disk.append("log", "ab");
  disk.take(0, {}, random);
  EXPECT_TRUE(disk.finish(random).at(0).ok);
  EXPECT_EQ(disk.contents("log"), "ab");
}

TEST(SimDisk, AStalledDiskFinishesNothingBeforeItsTime) {
  Disk disk;
  base::Random random(1);
  disk.trouble().stalled_till = 5'000'000'000;
  disk.append("log", "a");
  EXPECT_EQ(disk.take(0, {}, random), 5'000'000'000);
}

TEST(SimDisk, NamesTheFilesThatHoldSomething) {
  Disk disk;
  base::Random random(1);
  disk.append("b", "x");
  disk.append("a", "x");
  disk.replace("c", "");
  disk.take(0, {}, random);
  disk.finish(random);
  EXPECT_EQ(disk.files(), (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace muster::sim
