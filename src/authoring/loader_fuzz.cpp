// Any bytes as a YAML job: load or say why not, without a crash, within the limits. What follows a line "%%%" is taken
// for the text of every file that the job names, and lines of `--set path=value` before it are applied.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "authoring/loader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace authoring = muster::authoring;
  namespace model = muster::model;
  static const authoring::Languages kLanguages = [] {
    authoring::Languages languages{model::built_in_kinds(), {}};
    languages.shapes.push_back(
        {"wave", {{.name = "height", .type = model::FieldType::kInteger, .doc = "Highest.", .min = 1, .max = 100}}});
    return languages;
  }();
  std::string_view text(reinterpret_cast<const char*>(data), size);
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
    if (job.error().list.empty() || job.error().list.size() > 20) __builtin_trap();
    for (const authoring::Problem& problem : job.error().list) {
      if (problem.message.empty()) __builtin_trap();
      static_cast<void>(authoring::to_text(problem));
    }
  }
  return 0;
}
