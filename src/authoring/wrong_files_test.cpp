// Every file of tests/data/wrong with its exact message: x.yaml is wrong, x.txt is what muster says. An optional x.set
// holds lines of `path=value` for --set. Files that are included or named as data lie in the folder `with`.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "authoring/loader.h"

namespace muster::authoring {
namespace {

namespace fs = std::filesystem;

fs::path folder() {
  return fs::path(MUSTER_TEST_DATA) / "wrong";
}

base::Expected<std::string> contents_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return base::fail("no such file");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> wrong_files() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder())) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

std::string message_of(const std::string& name) {
  LoadInput input;
  input.environment = {{"PASSWORD", "swordfish"}, {"VUS", "ten"}};
  input.read_file = [](const std::string& path) { return contents_of(folder() / path); };
  if (const auto sets = contents_of(folder() / (name + ".set"))) {
    std::istringstream lines(*sets);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t equals = line.find('=');
      input.sets.emplace_back(line.substr(0, equals), line.substr(equals + 1));
    }
  }
  const auto yaml = contents_of(folder() / (name + ".yaml"));
  const auto job = load_job(*yaml, name + ".yaml", input, Languages{model::built_in_kinds(), {}});
  if (job) return "loaded without a problem\n";
  std::string text;
  for (const Problem& problem : job.error().list) text += to_text(problem) + "\n";
  return text;
}

class WrongFile : public testing::TestWithParam<std::string> {};

TEST_P(WrongFile, GetsItsExactMessage) {
  const std::string said = message_of(GetParam());
  const fs::path expected = folder() / (GetParam() + ".txt");
  if (std::getenv("MUSTER_REWRITE_EXPECTED") != nullptr) {
    std::ofstream(expected, std::ios::binary) << said;
    return;
  }
  EXPECT_EQ(said, contents_of(expected).value_or("(no such file)"));
}

INSTANTIATE_TEST_SUITE_P(Yaml, WrongFile, testing::ValuesIn(wrong_files()), [](const auto& each) {
  std::string name = each.param;
  std::ranges::replace_if(name, [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) == 0; }, '_');
  return name;
});

TEST(WrongFiles, AreManyEnough) {
  EXPECT_GE(wrong_files().size(), 80u);
}

}  // namespace
}  // namespace muster::authoring
