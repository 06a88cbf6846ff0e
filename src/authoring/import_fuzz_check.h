// What every fuzz target of an importer asks: whatever the input, what comes out is a job that loads. Called by the
// targets only.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "authoring/import.h"
#include "authoring/loader.h"

namespace muster::authoring {

inline void check_import(const Importer& importer, const std::uint8_t* data, std::size_t size,
                         std::vector<std::pair<std::string, std::string>> settings = {}) {
  static const Languages kLanguages{model::built_in_kinds(), {}};
  ImportInput input;
  input.text = std::string(reinterpret_cast<const char*>(data), size);
  input.source = "fuzz";
  input.settings = std::move(settings);
  input.read_file = [](const std::string& path) -> base::Expected<std::string> {
    if (path.ends_with("none")) return base::fail("no such file");
    return std::string("line one\r\nline two\n");
  };
  const auto made = importer.run(input);
  if (!made) {
    if (made.error().message.empty()) __builtin_trap();
    return;
  }
  LoadInput load;
  for (const std::string& name : made->variables) load.environment.emplace_back(name, "http://a.test");
  load.read_file = [](const std::string&) -> base::Expected<std::string> { return base::fail("no such file"); };
  const auto job = load_job(made->yaml, "fuzz.yaml", load, kLanguages);
  // What a variable holds decides whether an address made of it is one.
  if (job || !made->variables.empty()) return;
  std::fputs(made->yaml.c_str(), stderr);
  for (const Problem& problem : job.error().list) std::fprintf(stderr, "%s\n", to_text(problem).c_str());
  __builtin_trap();
}

}  // namespace muster::authoring
