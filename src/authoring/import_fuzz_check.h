// What every fuzz target of an importer asks: whatever the input, what comes out is a job that loads, with as many
// requests as it says, and notes that can be read. Called by the targets only.
#pragma once

#include <algorithm>
#include <cstdio>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "authoring/import.h"
#include "authoring/loader.h"
#include "base/fuzzing.h"
#include "base/utf8.h"

namespace muster::authoring {

struct CheckedImport {
  Imported made;
  model::Job job;
};

// The files that inputs name: some are missing, some are no text.
inline base::Expected<std::string> made_up_file(const std::string& path) {
  if (path.ends_with("none")) return base::fail("no such file");
  if (path.ends_with("odd")) return std::string("\xFF\xFE\0 a\xFE\xFEX\xFF\x80\r\n: b\n", 16);
  return std::string("line one\r\nline two\n");
}

inline std::size_t requests_in(const std::vector<model::Step>& steps) {
  std::size_t count = 0;
  for (const model::Step& step : steps) {
    count += step.kind == "http" ? 1 : 0;
    for (const model::Branch& branch : step.branches) count += requests_in(branch.steps);
  }
  return count;
}

inline std::expected<model::Job, Problems> load_imported(const Imported& made, std::string_view value) {
  static const Languages kLanguages{model::built_in_kinds(), {}};
  LoadInput load;
  for (const std::string& name : made.variables) load.environment.emplace_back(name, value);
  load.read_file = [](const std::string&) -> base::Expected<std::string> { return base::fail("no such file"); };
  return load_job(made.yaml, "fuzz.yaml", load, kLanguages);
}

// What a variable holds decides whether an address made of it is one. Nothing else may be wrong.
inline bool about_an_address(const Problem& problem, std::string_view yaml) {
  for (std::uint32_t line = 1; line < problem.where.line; ++line) yaml.remove_prefix(yaml.find('\n') + 1);
  yaml = yaml.substr(0, yaml.find('\n'));
  yaml.remove_prefix(std::min(yaml.find_first_not_of(' '), yaml.size()));
  const bool address = yaml.starts_with("target: ") || yaml.starts_with("url: ") || yaml.starts_with("http: ") ||
                       problem.message.starts_with("'hosts': ");
  return address && yaml.find("${env.") != std::string_view::npos;
}

inline std::optional<model::Job> load_somehow(const Imported& made) {
  for (const std::string_view value : {"http://a.test", "a.test", "80", "x"}) {
    auto job = load_imported(made, value);
    if (job) return std::move(*job);
    bool excused = !made.variables.empty();
    for (const Problem& problem : job.error().list) excused = excused && about_an_address(problem, made.yaml);
    if (excused) continue;
    std::fputs(made.yaml.c_str(), stderr);
    for (const Problem& problem : job.error().list) std::fprintf(stderr, "%s\n", to_text(problem).c_str());
    __builtin_trap();
  }
  return std::nullopt;
}

// Nothing where the input is refused, or needs an address that only its user knows.
inline std::optional<CheckedImport> check_import(const Importer& importer, ImportInput input) {
  using base::require;
  input.source = "fuzz";
  input.read_file = made_up_file;
  auto made = importer.run(input);
  if (!made) {
    require(!made.error().message.empty());
    return std::nullopt;
  }
  require(made->steps > 0 && made->steps <= input.limits.steps);
  require(made->notes.size() <= input.limits.notes + 1);
  for (const ImportNote& note : made->notes) {
    require(!note.message.empty() && base::is_utf8(note.message) && base::is_utf8(note.where));
  }
  auto job = load_somehow(*made);
  if (!job) return std::nullopt;
  std::size_t requests = 0;
  for (const model::Workflow& workflow : job->workflows) requests += requests_in(workflow.steps);
  require(requests == made->steps);
  return CheckedImport{std::move(*made), std::move(*job)};
}

}  // namespace muster::authoring
