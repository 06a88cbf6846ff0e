#include "console/job_source.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

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

}  // namespace
}  // namespace muster::console
