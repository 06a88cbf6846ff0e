// The job of a script that was written for wrk: what the command line's flags describe, with one step that is called
// after what the script sends.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "authoring/loader_reporter.h"
#include "authoring/yaml_node.h"
#include "authoring/yaml_tree.h"
#include "protocol/credentials.h"
#include "script/lua_job.h"
#include "script/lua_state.h"
#include "script/options.h"
#include "script/wrk_thread.h"

namespace muster::script {
namespace {

using authoring::YamlNode;

// A text that stands for itself in the document.
std::string literal(std::string text) {
  for (std::size_t at = text.find("${"); at != std::string::npos; at = text.find("${", at + 3)) text.insert(at, "$");
  return text;
}

// `functions: [run]`
YamlNode functions() {
  YamlNode names;
  names.kind = YamlNode::Kind::kList;
  names.where.line = 1;
  names.where.column = 1;
  YamlNode& name = names.list.emplace_back();
  name.kind = YamlNode::Kind::kScalar;
  name.where = names.where;
  name.text = "run";
  return names;
}

// How the only step is called: after its request, or after the script where its functions decide what is sent. `init`
// is one of them: it may set another path.
base::Expected<std::string> step_name(const model::Script& script) {
  constexpr std::size_t kLongest = 200;
  const ReadingLimit limit(script.file, kScriptLimits.read_time, kBadScript);
  WrkThread thread(script, kScriptLimits.memory_bytes, WrkThread::Use::kPlanning);
  if (auto opened = thread.open(); !opened) return std::unexpected(opened.error());
  const auto plan = thread.plan();
  if (!plan) return std::unexpected(plan.error());
  std::string name = fmt::format("{} {}", plan->method, protocol::without_credentials(plan->path));
  const bool control = std::ranges::any_of(name, [](char each) { return static_cast<unsigned char>(each) < 0x20; });
  if (plan->known && !control && name.size() <= kLongest) return name;
  return std::filesystem::path(script.file).filename().string();
}

}  // namespace

std::expected<model::Job, authoring::Problems> load_wrk_job(std::string_view text, const std::string& file_name,
                                                            const WrkInput& wrk, const authoring::LoadInput& input,
                                                            const authoring::Languages& languages) {
  const authoring::YamlLimits limits;
  authoring::Reporter reporter(limits);
  auto document = authoring::parse_yaml(wrk.job, reporter.add_source("command line", wrk.job), limits, reporter);
  if (!document) return std::unexpected(reporter.take());
  YamlNode& workflow = document->find("workflows")->list.front();
  YamlNode names = functions();
  workflow.map.push_back({.key = "functions", .key_where = names.where, .value = std::move(names)});
  auto script = std::make_shared<model::Script>();
  script->language = "lua";
  script->profile = "wrk";
  script->file = file_name;
  script->text = text;
  script->arguments = wrk.arguments;
  script->settings = wrk.settings;
  // Without settings the address is none, which the loader tells.
  YamlNode* const steps = workflow.find("steps");
  YamlNode* const called = steps != nullptr ? steps->list.front().find("name") : nullptr;
  if (called != nullptr && !wrk.settings.empty()) {
    auto name = step_name(*script);
    if (!name) {
      return std::unexpected(authoring::Problems{{{.where = {}, .message = name.error().message, .excerpt = {}}}});
    }
    called->text = literal(std::move(*name));
  }
  auto job = authoring::load_document(std::move(*document), wrk.job, "command line", input, languages,
                                      {.script = std::move(script)});
  if (job) job->source = text;
  return job;
}

}  // namespace muster::script
