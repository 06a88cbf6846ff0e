// `include:`: other files' workflows, data, thresholds, targets, secrets, env and tags join those of the file that
// names them; of single values the including file's own wins. Also the short form of a file with one workflow.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "authoring/loader_context.h"
#include "authoring/yaml_node.h"

namespace muster::authoring {

// Reads what `root` includes, directly and indirectly, and merges it in. `file` is the root's own path. Reports cycles,
// files that cannot be read and names that two files give.
void merge_includes(LoaderContext& context, YamlNode& root, const std::string& file);

// The keys that stand at the top of a file only where it is one workflow.
std::span<const std::string_view> workflow_keys();

// A file with `steps` and no `workflows` is one workflow named after its `name` or the file: moves its keys there.
void wrap_single_workflow(LoaderContext& context, YamlNode& root, const std::string& file);

}  // namespace muster::authoring
