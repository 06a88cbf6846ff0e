// A loader fed from memory, for tests: files, environment and --set are plain members.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "authoring/loader.h"

namespace muster::authoring {

class Files {
 public:
  std::map<std::string, std::string> files;
  std::set<std::string> missing;  // files that steps and targets name, and that are not there
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::pair<std::string, std::string>> sets;
  Languages languages{model::built_in_kinds(), {}};

  std::expected<model::Job, Problems> load(const std::string& yaml, const std::string& name = "test.yaml") {
    LoadInput input;
    input.environment = environment;
    input.sets = sets;
    input.read_file = [this](const std::string& path) -> base::Expected<std::string> {
      const auto found = files.find(path);
      if (found == files.end()) return base::fail("no such file");
      return found->second;
    };
    input.file_problem = [this](const std::string& path) { return missing.contains(path) ? "no such file" : ""; };
    return load_job(yaml, name, input, languages);
  }

  model::Job good(const std::string& yaml) {
    auto job = load(yaml);
    if (job) return std::move(*job);
    for (const Problem& problem : job.error().list) ADD_FAILURE() << to_text(problem);
    return {};
  }

  std::string bad(const std::string& yaml) {
    const auto job = load(yaml);
    if (job) return "loaded";
    std::string text;
    for (const Problem& problem : job.error().list) text += to_text(problem) + "\n";
    return text;
  }
};

}  // namespace muster::authoring
