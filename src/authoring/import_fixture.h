// An import with its outcome loaded, for tests: what an importer makes must be a job.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "authoring/import.h"
#include "authoring/loader_fixture.h"

namespace muster::authoring {

class ImportTest : public testing::Test {
 protected:
  // The job, after checking that it loads.
  model::Job import(const Importer& importer, std::string text) {
    ImportInput input;
    input.text = std::move(text);
    input.words = words;
    input.source = "test";
    input.settings = settings;
    input.read_file = [this](const std::string& path) -> base::Expected<std::string> {
      const auto found = files.find(path);
      if (found == files.end()) return base::fail("no such file");
      return found->second;
    };
    if (looks_for_files) {
      input.file_problem = [this](const std::string& path) { return files.contains(path) ? "" : "no such file"; };
    }
    auto outcome = importer.run(input);
    if (!outcome) {
      error = outcome.error().message;
      return {};
    }
    made = std::move(*outcome);
    Files loader;
    for (const std::string& name : made.variables) loader.environment.emplace_back(name, variable);
    model::Job job = loader.good(made.yaml);
    if (testing::Test::HasFailure()) ADD_FAILURE() << made.yaml;
    return job;
  }

  std::string notes() const {
    std::string all;
    for (const ImportNote& note : made.notes) all += note.where + ": " + note.message + "\n";
    return all;
  }

  static std::string text_of(const model::Tree* tree) {
    return tree == nullptr || tree->text() == nullptr ? "(none)" : *tree->text();
  }

  std::map<std::string, std::string> files;
  bool looks_for_files = false;
  std::string variable = "http://env.test";  // what each one that the job needs holds
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> settings;
  Imported made;
  std::string error;
};

}  // namespace muster::authoring
