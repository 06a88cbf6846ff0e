#include "report/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "report/atomic_file.h"
#include "report/summary_json.h"
#include "report/test_runs.h"

namespace muster::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Folder {
 public:
  Folder() {
    std::string made = (std::filesystem::temp_directory_path() / "muster-report-XXXXXX").string();
    path_ = ::mkdtemp(made.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class Troubled : public Output {
 public:
  enum class Trouble { kOpen, kWrite, kThrow };
  Troubled(Trouble trouble, int* calls) : trouble_(trouble), calls_(calls) {}
  base::Expected<void> open(const RunInfo&) override {
    if (trouble_ == Trouble::kOpen) return base::fail("no such place");
    return {};
  }
  base::Expected<void> write(const model::RunResult&) override {
    ++*calls_;
    if (trouble_ == Trouble::kThrow) throw std::runtime_error("thrown");
    if (trouble_ == Trouble::kWrite) return base::fail("it is full");
    return {};
  }
  base::Expected<void> finish(const model::RunResult&) override {
    ++*calls_;
    return {};
  }

 private:
  Trouble trouble_;
  int* calls_;
};

TEST(Outputs, AreMadeFromWhatTheUserWrote) {
  Outputs outputs = built_in_outputs();
  EXPECT_TRUE(outputs.make("json=out.json"));
  EXPECT_EQ(outputs.make("json").error().message, "--out json needs a file; write --out json=FILE");
  EXPECT_EQ(outputs.make("jsno=x").error().message,
            "--out jsno=x: there is no output named 'jsno'; did you mean 'json'?");
  EXPECT_THAT(outputs.make("parquet=x").error().message, HasSubstr("there are: "));
  std::string given;
  outputs.add({"mine", "one from outside", [&](std::string argument) -> base::Expected<std::unique_ptr<Output>> {
                 given = std::move(argument);
                 return std::make_unique<Troubled>(Troubled::Trouble::kWrite, nullptr);
               }});
  EXPECT_TRUE(outputs.make("mine=a=b"));
  EXPECT_EQ(given, "a=b");
}

TEST(Outputs, ThatWriteToOnePlaceAreRefused) {
  const Folder folder;
  const Outputs outputs = built_in_outputs();
  const std::string file = folder.file("x");
  const auto refusal = [&](const std::string& one, const std::string& other) {
    const auto made = outputs.make_all({one, other}, {});
    return made ? std::string() : made.error().message;
  };
  EXPECT_EQ(refusal("json=-", "ndjson=-"),
            "--out json=- and --out ndjson=- write to standard output; give each a file of its own");
  EXPECT_THAT(refusal("csv=/dev/stdout", "junit=-"), HasSubstr("standard output"));
  EXPECT_THAT(refusal("csv=" + file, "json=" + folder.file("../") + "/x"), testing::IsEmpty()) << "another folder";
  EXPECT_THAT(refusal("csv=" + file, "json=" + folder.file("./") + "/x"), HasSubstr("the same file"));
  std::filesystem::create_symlink("y", folder.file("link"));
  ASSERT_TRUE(write_atomically(folder.file("y"), ""));
  EXPECT_THAT(refusal("csv=" + folder.file("y"), "json=" + folder.file("link")), HasSubstr("the same file"));
  std::filesystem::create_symlink("later", folder.file("early"));
  std::filesystem::create_symlink("./early", folder.file("earlier"));
  for (const char* name : {"later", "early"}) {
    EXPECT_THAT(refusal("csv=" + folder.file(name), "json=" + folder.file("earlier")), HasSubstr("the same file"));
  }
  EXPECT_EQ(refusal("json=/dev/null", "ndjson=/dev/null"), "");
  EXPECT_EQ(refusal("command=cat", "command=cat"), "");
}

TEST(Outputs, DoNotWriteOverTheRunsThatAreKept) {
  const Folder folder;
  const Outputs outputs = built_in_outputs();
  const std::string kept = folder.file("runs.db");
  ASSERT_TRUE(write_atomically(kept, "runs"));
  const InputFiles inputs{.test = {}, .history = {kept, kept + "-wal"}};
  for (const std::string& place : {kept, kept + "-wal", folder.file("./") + "/runs.db"}) {
    const auto made = outputs.make_all({"csv=" + place}, inputs);
    ASSERT_FALSE(made) << place;
    EXPECT_THAT(made.error().message, testing::EndsWith(", where muster keeps its runs; name another file"));
  }
  EXPECT_TRUE(outputs.make_all({"csv=" + folder.file("runs.csv")}, inputs));
}

TEST(Outputs, DoNotWriteOverTheTestItself) {
  const Folder folder;
  const Outputs outputs = built_in_outputs();
  const std::string test = folder.file("test.yaml");
  ASSERT_TRUE(write_atomically(test, "muster: 1"));
  std::filesystem::create_symlink("test.yaml", folder.file("link"));
  for (const std::string& place : {test, folder.file("./") + "/test.yaml", folder.file("link")}) {
    const auto made = outputs.make_all({"csv=-", "json=" + place}, {.test = test});
    ASSERT_FALSE(made) << place;
    EXPECT_EQ(made.error().message, "--out json=" + place + " would write over the test itself; name another file");
  }
  EXPECT_TRUE(outputs.make_all({"json=" + folder.file("other.yaml")}, {.test = test}));
  EXPECT_TRUE(outputs.make_all({"json=/dev/null", "csv=-"}, {.test = "/dev/null"}));
}

TEST(Outputs, DoNotWriteOverWhatTheTestReads) {
  const Folder folder;
  const Outputs outputs = built_in_outputs();
  const std::string data = folder.file("users.csv");
  const InputFiles inputs{.test = folder.file("test.yaml"),
                          .read = {folder.file("other.yaml"), data, "/dev/null", "-"}};
  ASSERT_TRUE(write_atomically(inputs.test, "muster: 1"));
  ASSERT_TRUE(write_atomically(data, "name"));
  std::filesystem::create_symlink("users.csv", folder.file("link"));
  std::filesystem::create_hard_link(data, folder.file("twin"));
  for (const std::string& place : {data, folder.file("./") + "/users.csv", folder.file("link"), folder.file("twin")}) {
    const auto made = outputs.make_all({"json=/dev/null", "csv=" + place}, inputs);
    ASSERT_FALSE(made) << place;
    EXPECT_EQ(made.error().message,
              "--out csv=" + place + " would write over '" + data + "', which the test reads; name another file");
  }
  EXPECT_TRUE(outputs.make_all({"json=" + folder.file("other.json"), "csv=-"}, inputs));
}

TEST(Outputs, DoNotWriteOverTheRunToCompareWith) {
  const Folder folder;
  const Outputs outputs = built_in_outputs();
  const std::string before = folder.file("before.run");
  ASSERT_TRUE(write_atomically(before, "a run"));
  std::filesystem::create_symlink("before.run", folder.file("link"));
  for (const std::string& place : {before, folder.file("link")}) {
    const auto made = outputs.make_all({"run=" + place}, {.test = folder.file("test.yaml"), .baseline = before});
    ASSERT_FALSE(made) << place;
    EXPECT_EQ(made.error().message, "--out run=" + place + " would write over '" + before +
                                        "', which --baseline compares with; name another file");
  }
  EXPECT_TRUE(outputs.make_all({"run=" + folder.file("after.run")}, {.test = "", .baseline = before}));
}

TEST(Outputs, ThatTakeStandardOutputSaySo) {
  const Outputs outputs = built_in_outputs();
  EXPECT_TRUE(outputs.make_all({"csv=-"}, {})->takes_standard_output());
  EXPECT_FALSE(outputs.make_all({"csv=/dev/null"}, {})->takes_standard_output());
}

TEST(Outputs, SayWhatTheyAreGivenAndShowAnExample) {
  for (const OutputKind& kind : built_in_outputs().all()) {
    EXPECT_FALSE(kind.doc.empty() || kind.argument.empty() || kind.argument_doc.empty()) << kind.name;
    EXPECT_TRUE(kind.example.starts_with(kind.name + "=")) << kind.name;
    EXPECT_FALSE(kind.doc.ends_with('.')) << kind.name;
  }
}

TEST(OutputSet, TroubleInOneOutputStaysInItAndIsToldAtTheEnd) {
  int first = 0;
  int second = 0;
  int third = 0;
  OutputSet set;
  set.add("a", std::make_unique<Troubled>(Troubled::Trouble::kOpen, &first));
  set.add("b=x", std::make_unique<Troubled>(Troubled::Trouble::kWrite, &second));
  set.add("c", std::make_unique<Troubled>(Troubled::Trouble::kThrow, &third));
  set.open({});
  set.write({});
  set.write({});
  set.finish({});
  set.finish({});
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 3);
  EXPECT_EQ(third, 3);
  EXPECT_THAT(set.problems(), ElementsAre("--out a: no such place", "--out b=x: it is full (2 times in all)",
                                          "--out c: thrown (2 times in all)"));
}

TEST(JsonOutput, WritesTheSummaryWholeAndLeavesNothingElse) {
  const Folder folder;
  OutputSet set;
  set.add("json", std::move(*built_in_outputs().make("json=" + folder.file("out.json"))));
  set.open({});
  set.write(test::passed());
  EXPECT_EQ(folder.files(), 0u) << "nothing is written before the end";
  set.finish(test::passed());
  EXPECT_TRUE(set.problems().empty());
  EXPECT_EQ(content(folder.file("out.json")), summary_json(test::passed()));
  EXPECT_EQ(folder.files(), 1u);
}

TEST(JsonOutput, SaysBeforeTheRunThatItsFolderIsMissing) {
  const Folder folder;
  OutputSet set;
  set.add("json=x/out.json", std::move(*built_in_outputs().make("json=" + folder.file("x/out.json"))));
  set.open({});
  ASSERT_EQ(set.problems().size(), 1u);
  EXPECT_THAT(set.problems()[0], HasSubstr("No such file or directory; make the folder first"));
}

TEST(AtomicFile, KeepsTheModeAndFollowsALink) {
  const Folder folder;
  ASSERT_TRUE(write_atomically(folder.file("real"), "old"));
  ::chmod(folder.file("real").c_str(), 0600);
  std::filesystem::create_symlink("real", folder.file("link"));
  ASSERT_TRUE(write_atomically(folder.file("link"), "new"));
  EXPECT_EQ(content(folder.file("real")), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  struct stat there{};
  ::stat(folder.file("real").c_str(), &there);
  EXPECT_EQ(there.st_mode & 0777, 0600u);
}

TEST(AtomicFile, ALinkWhoseFarEndIsStillToBeMadeStaysALink) {
  const Folder folder;
  std::filesystem::create_symlink("later", folder.file("link"));
  ASSERT_TRUE(write_atomically(folder.file("link"), "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  EXPECT_EQ(content(folder.file("later")), "new");
  std::filesystem::create_symlink("none/later", folder.file("nowhere"));
  EXPECT_FALSE(check_writable(folder.file("nowhere"))) << "there is no such folder";
}

TEST(AtomicFile, AMissingFolderAndAStepBackAreNotTheFolderItself) {
  const Folder folder;
  const std::string precious = folder.file("precious");
  ASSERT_TRUE(write_atomically(precious, "old"));
  std::filesystem::create_symlink("none/../precious", folder.file("link"));
  for (const char* name : {"none/../precious", "none/../other", "none/deep/../../other", "precious/../other", "link"}) {
    const std::string place = folder.file(name);
    EXPECT_FALSE(check_writable(place)) << name;
    const auto written = write_atomically(place, "new");
    ASSERT_FALSE(written) << name;
    EXPECT_THAT(written.error().message, HasSubstr("make the folder first")) << name;
  }
  EXPECT_EQ(content(precious), "old");
  EXPECT_EQ(folder.files(), 2u);
}

TEST(AtomicFile, AFullDiskIsReportedWithWhatToDo) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full here";
  const auto written = write_atomically("/dev/full", "bytes");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message,
            "cannot write '/dev/full': No space left on device; free some space there, or name a file on another disk");
}

TEST(AtomicFile, AFolderIsNotAFile) {
  const Folder folder;
  EXPECT_THAT(write_atomically(folder.file(""), "x").error().message, HasSubstr("name a file, not a folder"));
  EXPECT_FALSE(check_writable(folder.file("")));
}

TEST(SummaryJson, CountsOnlyRequestsAndMergesHistograms) {
  const auto json = nlohmann::json::parse(summary_json(test::passed()));
  EXPECT_EQ(json["schema"], "muster.summary/1");
  EXPECT_EQ(json["requests"], 128'204) << "a think is no request";
  EXPECT_EQ(json["started"], "2023-11-14T22:13:20.250Z");
  EXPECT_DOUBLE_EQ(json["rate"], 4273.467);
  metrics::Histogram merged;
  for (const auto& step : test::passed().workflows[0].steps) {
    if (step.role == model::StepRole::kTest) merged.merge(step.latency);
  }
  EXPECT_DOUBLE_EQ(json["latency_us"]["p999"], static_cast<double>(merged.quantile(0.999).count()) / 1000);
  EXPECT_FALSE(json.contains("service_us"));
  EXPECT_FALSE(json.contains("lateness_us"));
  EXPECT_EQ(json["model"], "closed");
  ASSERT_EQ(json["series"].size(), 3u);
  EXPECT_EQ(json["series"][1]["requests"], 42'734 / 3 * 2 + 42'736 / 3);
  EXPECT_EQ(json["series"][1]["vus"], 100);
}

TEST(SummaryJson, TellsServiceTimeAndLatenessOfAnOpenLoad) {
  const auto json = nlohmann::json::parse(summary_json(test::marked()));
  EXPECT_EQ(json["model"], "open");
  EXPECT_TRUE(json.contains("service_us"));
  EXPECT_TRUE(json.contains("lateness_us"));
  EXPECT_EQ(json["errors"], nlohmann::json({{"connect", 88}, {"status", 1700}, {"timeout", 213}}));
  EXPECT_EQ(json["marks"][0]["id"], "dropped");
  EXPECT_EQ(json["workflows"][0]["dropped"], 12);
  EXPECT_DOUBLE_EQ(json["thresholds"][0]["failed_at_s"], 12.0);
  EXPECT_FALSE(json["thresholds"][2].contains("failed_at_s"));
}

TEST(SummaryJson, IsValidJsonWhateverBytesAServerSent) {
  auto run = test::wide();
  run.job = "\xff\xfe\x01\"";
  const std::string text = summary_json(run);
  EXPECT_TRUE(nlohmann::json::accept(text));
  EXPECT_THAT(text, HasSubstr("\"job\": \"\xEF\xBF\xBD\xEF\xBF\xBD\\u0001\\\"\""));
}

}  // namespace
}  // namespace muster::report
