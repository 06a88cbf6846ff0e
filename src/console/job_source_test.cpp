#include "console/job_source.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "console/plan.h"
#include "engine/redaction.h"

namespace muster::console {
namespace {

class JobSourceTest : public testing::Test {
 protected:
  JobSourceTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "muster-job-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    std::ofstream(file()) << "muster: 1\ntarget: http://a.test\nsteps: [ { get: / } ]\n";
  }
  ~JobSourceTest() override { std::filesystem::remove_all(folder_); }

  std::string file() const { return (folder_ / "shop.yaml").string(); }
  JobFlags with_file() const {
    JobFlags flags;
    flags.file = file();
    return flags;
  }

  std::filesystem::path folder_;
  engine::Registry registry_ = engine::built_in_registry();
};

TEST_F(JobSourceTest, AFileWithoutANameIsNamedAfterItself) {
  const auto job = load(with_file(), registry_);
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->name, "shop");
}

TEST_F(JobSourceTest, FlagsOfTheRequestAreNotSilentlyIgnoredBesideAFile) {
  for (const auto change :
       {+[](JobFlags& flags) { flags.insecure = true; }, +[](JobFlags& flags) { flags.grace = "1s"; },
        +[](JobFlags& flags) { flags.timeout = "1s"; }, +[](JobFlags& flags) { flags.basic = "a:b"; },
        +[](JobFlags& flags) { flags.no_redirects = true; }, +[](JobFlags& flags) { flags.no_keep_alive = true; },
        +[](JobFlags& flags) { flags.vus = 3; }}) {
    JobFlags flags = with_file();
    change(flags);
    const auto job = load(flags, registry_);
    ASSERT_FALSE(job);
    EXPECT_NE(job.error().message.find("go with --url"), std::string::npos) << job.error().message;
  }
}

TEST_F(JobSourceTest, AUrlBecomesAJobOfOneRequest) {
  JobFlags flags;
  flags.url = "http://a.test/${not a hole}";
  flags.duration = "5";
  flags.body = "x";
  const auto job = load(flags, registry_);
  ASSERT_TRUE(job) << job.error().message;
  ASSERT_EQ(job->workflows.size(), 1u);
  EXPECT_EQ(job->workflows[0].load.length, std::chrono::seconds(5));
  EXPECT_EQ(job->workflows[0].load.vus, 10u);
  ASSERT_EQ(job->workflows[0].steps.size(), 1u);
  EXPECT_EQ(*job->workflows[0].steps[0].field("method")->text(), "POST");
}

TEST_F(JobSourceTest, OfTwoValuesForOneVariableTheLastWinsAsWithSet) {
  std::ofstream(file()) << "muster: 1\ntarget: http://${env.HOST}\nsteps: [ { get: / } ]\n";
  JobFlags flags = with_file();
  flags.environment = {"HOST=first.test", "OTHER=x", "HOST=last.test"};
  const auto job = load(flags, registry_);
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->targets[0].address, "http://last.test");
}

TEST_F(JobSourceTest, AHeaderThatIsGivenTwiceIsSentTwice) {
  JobFlags flags;
  flags.url = "http://a.test/";
  flags.headers = {"X-A: 1", "X-B: other", "X-A: 2", "x-a: 3"};
  const auto job = load(flags, registry_);
  ASSERT_TRUE(job) << job.error().message;
  const model::Tree& headers = *job->workflows[0].steps[0].field("headers");
  ASSERT_EQ(headers.map()->size(), 2u);
  ASSERT_NE(headers.find("X-A")->list(), nullptr);
  std::vector<std::string> sent;
  for (const model::Tree& each : *headers.find("X-A")->list()) sent.push_back(*each.text());
  EXPECT_EQ(sent, (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_EQ(*headers.find("X-B")->text(), "other");
}

TEST_F(JobSourceTest, EveryFileThatAJobReadsIsKnown) {
  std::ofstream(folder_ / "more.yaml") << "data: { users: { csv: users.csv } }\n";
  std::ofstream(folder_ / "users.csv") << "name\nada\n";
  for (const char* name : {"ca.pem", "body.bin", "photo.jpg"}) std::ofstream(folder_ / name) << "x";
  std::ofstream(file()) << "muster: 1\n"
                           "include: more.yaml\n"
                           "target: { url: 'https://a.test', ca: ca.pem }\n"
                           "steps:\n"
                           "  - { post: /a, file: body.bin }\n"
                           "  - { post: /b, multipart: { photo: { file: photo.jpg } } }\n";
  const auto job = load(with_file(), registry_);
  ASSERT_TRUE(job) << job.error().message;
  std::vector<std::string> expected;
  for (const char* name : {"body.bin", "ca.pem", "more.yaml", "photo.jpg", "users.csv"})
    expected.push_back((folder_ / name).string());
  EXPECT_EQ(job->files, expected);

  JobFlags flags;
  flags.url = "http://a.test/";
  flags.body = "@" + expected.front();
  const auto from_flags = load(flags, registry_);
  ASSERT_TRUE(from_flags) << from_flags.error().message;
  EXPECT_EQ(from_flags->files, std::vector{expected.front()});
}

// Everything that may be shown or kept of a job before it has run.
std::string shown(const model::Job& job, const engine::Registry& registry) {
  const auto plan = make_plan(job, registry, {.cores = 1, .open_files = 0});
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
  if (!plan) return {};
  return job.name + job.source + plan_text(*plan, registry.kinds, {}) + plan_json(*plan, registry.kinds);
}

TEST_F(JobSourceTest, TheSchemeOfAUrlMayBeWrittenInAnyCase) {
  JobFlags flags;
  flags.url = "HTTP://127.0.0.1/x";
  const auto job = load(flags, registry_);
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_NE(shown(*job, registry_).find("GET /x"), std::string::npos);
}

TEST_F(JobSourceTest, PasswordsOnTheCommandLineAreSecretsOfTheJob) {
  const std::string script = (folder_ / "script.lua").string();
  std::ofstream(script) << "function request() return wrk.format() end\n";
  JobFlags alone;
  alone.url = "http://ada:hunter2@a.test/";
  JobFlags in_place_of_a_file;
  in_place_of_a_file.file = alone.url;
  JobFlags behind_a_script;
  behind_a_script.file = script;
  behind_a_script.arguments = {alone.url};
  JobFlags encoded;
  encoded.url = "http://ada:%68unter2@a.test/";
  JobFlags basic;
  basic.url = "http://a.test/";
  basic.basic = "ada:hunter2";
  for (const JobFlags& flags : {alone, in_place_of_a_file, behind_a_script, encoded, basic}) {
    const auto job = load(flags, registry_);
    ASSERT_TRUE(job) << job.error().message;
    const std::string all = shown(*job, registry_);
    for (const char* secret : {"unter2", "YWRhOmh1bnRlcjI"}) EXPECT_EQ(all.find(secret), std::string::npos) << all;
    std::string sent = "Authorization: Basic YWRhOmh1bnRlcjI=";
    engine::redact(sent, engine::spellings(job->secrets));
    EXPECT_EQ(sent, "Authorization: Basic ***");
  }
}

}  // namespace
}  // namespace muster::console
