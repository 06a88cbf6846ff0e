// `--set path=value`: replaces or adds one value of a file before it is read. A path's parts are keys, positions in a
// list, `workflows[0].load.vus`, or names of a list's items, `workflows.login.load.vus`.
#pragma once

#include <string>

#include "authoring/loader_context.h"
#include "authoring/yaml_node.h"

namespace muster::authoring {

// Problems are placed at "--set path=value". A key that the path's last map does not have is added: whether it may
// stand there is for the loader to say.
void apply_set(LoaderContext& context, YamlNode& root, const std::string& path, const std::string& value);

}  // namespace muster::authoring
