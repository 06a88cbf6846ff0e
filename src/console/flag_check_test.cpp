#include "console/flag_check.h"

#include <gtest/gtest.h>

namespace muster::console {
namespace {

std::string said(void (*change)(JobFlags&)) {
  JobFlags flags;
  flags.url = "http://a.test/";
  change(flags);
  const auto checked = check_job_flags(flags);
  return checked ? "good" : checked.error().message;
}

TEST(FlagCheck, EachMessageNamesItsFlag) {
  EXPECT_TRUE(said([](JobFlags& flags) { flags.url = "a.test"; }).starts_with("--url: "));
  EXPECT_TRUE(said([](JobFlags& flags) { flags.duration = "5x"; }).starts_with("-d: "));
  EXPECT_TRUE(said([](JobFlags& flags) { flags.duration = "0"; }).starts_with("-d: "));
  EXPECT_TRUE(said([](JobFlags& flags) { flags.rate = "fast"; }).starts_with("-R: "));
  EXPECT_TRUE(said([](JobFlags& flags) { flags.timeout = "2h"; }).starts_with("--timeout: "));
  EXPECT_TRUE(said([](JobFlags& flags) { flags.warm_up = "-1s"; }).starts_with("--warm-up: "));
  EXPECT_TRUE(said([](JobFlags& flags) { flags.grace = "soon"; }).starts_with("--grace: "));
  EXPECT_TRUE(said([](JobFlags& flags) { flags.method = "GE T"; }).starts_with("-X: "));
  EXPECT_TRUE(said([](JobFlags& flags) { flags.headers = {"A b: c"}; }).starts_with("-H: "));
  EXPECT_TRUE(said([](JobFlags& flags) { flags.body = "@/no/such/file"; }).starts_with("--body: "));
}

TEST(FlagCheck, BytesThatAreNoTextAreRefused) {
  EXPECT_EQ(said([](JobFlags& flags) { flags.url = "http://a.test/\xff"; }),
            "--url: expected UTF-8 text, found byte 0xff at position 15; write it percent-encoded");
  EXPECT_EQ(said([](JobFlags& flags) { flags.headers = {"A: b", "C: \xe9"}; }),
            "-H: expected UTF-8 text, found byte 0xe9 at position 4; write it as UTF-8, or percent-encoded");
  EXPECT_EQ(said([](JobFlags& flags) { flags.body = "\xc3\xa9\xc3"; }),
            "--body: expected UTF-8 text, found byte 0xc3 at position 3; put the bytes into a file and write --body "
            "@FILE");
  EXPECT_EQ(said([](JobFlags& flags) { flags.body = "@\xff"; }),
            "--body: expected UTF-8 text, found byte 0xff at position 2; give the file another name");
  EXPECT_EQ(said([](JobFlags& flags) { flags.basic = "ada:\xff"; }),
            "-u: expected UTF-8 text, found byte 0xff at position 5; write it as UTF-8");
  EXPECT_TRUE(said([](JobFlags& flags) {
                flags.file = "script.lua";
                flags.url = "http://a.test/\xff";
              }).starts_with("--url: "));
  EXPECT_EQ(said([](JobFlags& flags) { flags.url = "http://a.test/\u00e9"; }), "good");
}

TEST(FlagCheck, WhoGivesNothingIsToldHowToGiveItToTheSameCommand) {
  EXPECT_EQ(said([](JobFlags& flags) {
              flags.url.clear();
              flags.command = "check";
            }),
            "nothing to check: give a file (muster check test.yaml) or an address (muster check --url http://…)");
}

TEST(FlagCheck, ATargetBesideAnAddressIsNotSilentlyIgnored) {
  EXPECT_TRUE(said([](JobFlags& flags) { flags.target = "embedded"; }).starts_with("--target "));
  EXPECT_TRUE(said([](JobFlags& flags) {
                flags.file = "script.lua";
                flags.target = "http://b.test";
              }).starts_with("--target "));
  EXPECT_EQ(said([](JobFlags& flags) {
              flags.url.clear();
              flags.file = "test.yaml";
              flags.target = "embedded";
            }),
            "good");
}

TEST(FlagCheck, APasswordWithoutItsUserIsNotPrinted) {
  EXPECT_EQ(said([](JobFlags& flags) { flags.basic = "swordfish"; }),
            "-u: expected USER:PASSWORD, with ':' between them");
}

TEST(FlagCheck, FlagsThatContradictEachOtherAreRefused) {
  EXPECT_NE(said([](JobFlags& flags) {
              flags.iterations = 5;
              flags.duration = "3s";
            }).find("exclude each other"),
            std::string::npos);
  EXPECT_NE(said([](JobFlags& flags) {
              flags.iterations = 5;
              flags.rate = "3/s";
            }).find("exclude each other"),
            std::string::npos);
  EXPECT_NE(said([](JobFlags& flags) { flags.max_vus = 5; }).find("goes with -R"), std::string::npos);
}

TEST(FlagCheck, BareNumbersAreSecondsAndPerSecond) {
  EXPECT_EQ(said([](JobFlags& flags) {
              flags.rate = "200";
              flags.duration = "30";
              flags.timeout = "1.5";
              flags.vus = 5;
            }),
            "good");
  EXPECT_EQ(with_unit("30", "s"), "30s");
  EXPECT_EQ(with_unit("30ms", "s"), "30ms");
}

}  // namespace
}  // namespace muster::console
