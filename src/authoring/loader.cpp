#include "authoring/loader.h"

#include "authoring/loader_context.h"
#include "authoring/loader_job.h"
#include "authoring/loader_workflow.h"
#include "authoring/validate.h"
#include "authoring/yaml_include.h"
#include "authoring/yaml_set.h"
#include "authoring/yaml_tree.h"

namespace muster::authoring {
namespace {

void set_file(YamlNode& node, const std::shared_ptr<const std::string>& file) {
  node.where.file = file;
  for (YamlNode& each : node.list) set_file(each, file);
  for (YamlEntry& entry : node.map) {
    entry.key_where.file = file;
    set_file(entry.value, file);
  }
}

void read_job(LoaderContext& context, const YamlNode& root, model::Job& job) {
  read_environment(context, root, job);
  const bool known = read_job_options(context, root, job);
  if (const YamlNode* workflows = root.find("workflows")) {
    read_workflows(context, *workflows, job);
  } else if (known) {
    context.report(root.where, "there is nothing to run; add 'workflows', or 'load' and 'steps'");
  }
  validate(context, job);
  for (const std::string& name : context.named_environment) {
    const auto found = context.environment.find(name);
    if (found != context.environment.end()) job.environment.emplace_back(name, found->second);
  }
}

}  // namespace

std::expected<model::Job, Problems> load_job(std::string_view yaml, const std::string& file_name,
                                             const LoadInput& input, const Languages& languages) {
  const YamlLimits limits;
  Reporter reporter(limits);
  LoaderContext context{.languages = languages, .input = input, .reporter = reporter, .limits = limits};
  for (const auto& [name, value] : input.environment) context.environment.emplace(name, value);
  const auto file = reporter.add_source(file_name, std::string(yaml));
  model::Job job;
  job.source = yaml;
  std::optional<YamlNode> root = parse_yaml(yaml, file, limits, reporter);
  if (root && context.expect_map(*root, "the file", "muster: 1")) {
    wrap_single_workflow(context, *root, file_name);
    merge_includes(context, *root, file_name);
    for (const auto& [path, value] : input.sets) apply_set(context, *root, path, value);
    read_job(context, *root, job);
  }
  if (!reporter.clean()) return std::unexpected(reporter.take());
  return job;
}

std::expected<model::Job, Problems> load_document(YamlNode document, std::string_view source,
                                                  const std::string& file_name, const LoadInput& input,
                                                  const Languages& languages, ScriptDocument from) {
  const YamlLimits limits;
  Reporter reporter(limits);
  LoaderContext context{
      .languages = languages, .input = input, .reporter = reporter, .limits = limits, .script = std::move(from.script)};
  context.single_workflow = from.single_workflow;
  for (const auto& [name, value] : input.environment) context.environment.emplace(name, value);
  set_file(document, reporter.add_source(file_name, std::string(source)));
  model::Job job;
  job.source = source;
  job.script = context.script;
  // Has its workflows already: what a script says beside them and only one of them can have is refused.
  wrap_single_workflow(context, document, file_name);
  merge_includes(context, document, file_name);
  for (const auto& [path, value] : input.sets) apply_set(context, document, path, value);
  read_job(context, document, job);
  if (!reporter.clean()) return std::unexpected(reporter.take());
  return job;
}

}  // namespace muster::authoring
