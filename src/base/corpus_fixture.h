// For tests: the seeds of a fuzz target, which are kept as files. A seed whose bytes no longer decode helps nobody, and
// nothing shows it: so tests hold the files against what is encoded today. MUSTER_WRITE_CORPUS=1 writes them anew.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace muster::base {

class Corpus {
 public:
  explicit Corpus(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // A seed of this name holds these bytes.
  void expect(const std::string& name, std::string_view bytes) const {
    if (std::getenv("MUSTER_WRITE_CORPUS") != nullptr) {
      std::filesystem::create_directories(folder_);
      std::ofstream(folder_ / name, std::ios::binary) << bytes;
    }
    EXPECT_TRUE(contents(folder_ / name) == bytes) << folder_ / name << " is not what is encoded today";
  }

  std::map<std::string, std::string> seeds() const {
    std::map<std::string, std::string> found;
    for (const auto& file : std::filesystem::directory_iterator(folder_)) {
      found[file.path().filename().string()] = contents(file.path());
    }
    EXPECT_FALSE(found.empty()) << folder_ << " has no seed";
    return found;
  }

 private:
  static std::string contents(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  std::filesystem::path folder_;
};

}  // namespace muster::base
