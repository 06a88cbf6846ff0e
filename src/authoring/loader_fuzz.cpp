// Any bytes as a YAML job: load or say why not, without a crash, within the limits. What follows a line "%%%" is taken
// for the text of every file that the job names, and lines of `--set path=value` before it are applied.
// seeds: tests/data/wrong tests/data/stranger examples
// covers: authoring/loader.h authoring/loader.cpp authoring/loader_context.h authoring/loader_context.cpp
// covers: authoring/loader_fields.cpp authoring/loader_job.cpp authoring/loader_load.cpp authoring/loader_reporter.h
// covers: authoring/loader_reporter.cpp authoring/loader_step_names.cpp authoring/loader_step_parts.cpp
// covers: authoring/loader_steps.cpp authoring/loader_synonyms.cpp authoring/loader_workflow.cpp
// covers: authoring/yaml_include.cpp authoring/yaml_node.h authoring/yaml_node.cpp authoring/yaml_set.cpp
// covers: authoring/yaml_syntax.cpp authoring/yaml_text.cpp authoring/yaml_tree.cpp authoring/validate.cpp
// covers: authoring/validate_graph.cpp authoring/validate_names.cpp authoring/validate_scope.h
// covers: authoring/validate_scope.cpp authoring/paths.cpp model/http_inspect.cpp base/units.cpp base/closest.cpp
#include <algorithm>
#include <string>
#include <string_view>

#include "authoring/loader.h"
#include "base/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace authoring = muster::authoring;
  namespace model = muster::model;
  static const authoring::Languages kLanguages = [] {
    authoring::Languages languages{model::built_in_kinds(), {}};
    languages.shapes.push_back(
        {"wave", {{.name = "height", .type = model::FieldType::kInteger, .doc = "Highest.", .min = 1, .max = 100}}});
    return languages;
  }();
  std::string_view text = muster::base::text_of(data, size);
  constexpr std::string_view kBreak = "\n%%%\n";
  const std::size_t end = text.find(kBreak);
  const std::string other(end == std::string_view::npos ? "" : text.substr(end + kBreak.size()));
  text = text.substr(0, end);

  authoring::LoadInput input;
  input.environment = {{"A", "1"}, {"B", "https://shop.test"}, {"PASSWORD", "swordfish"}};
  input.read_file = [&](const std::string& path) -> muster::base::Expected<std::string> {
    if (path.ends_with("none")) return muster::base::fail("no such file");
    return other;
  };
  input.file_problem = [](const std::string& path) { return path.ends_with("none") ? "no such file" : ""; };
  constexpr std::string_view kSet = "--set ";
  while (text.starts_with(kSet)) {
    const std::string_view line = text.substr(kSet.size(), text.find('\n') - kSet.size());
    text.remove_prefix(std::min(text.size(), kSet.size() + line.size() + 1));
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    input.sets.emplace_back(line.substr(0, equals), line.substr(equals + 1));
  }

  const auto job = authoring::load_job(text, "fuzz.yaml", input, kLanguages);
  if (!job) {
    muster::base::require(!job.error().list.empty() && job.error().list.size() <= 20);
    for (const authoring::Problem& problem : job.error().list) {
      muster::base::require(!problem.message.empty());
      static_cast<void>(authoring::to_text(problem));
    }
  }
  return 0;
}
