// YAML text → YamlNode, through yaml-cpp's events, with what yaml-cpp leaves out: limits on size, depth and nodes
// (aliases count in full), duplicate keys refused, tabs and foreign encodings named, one document only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "authoring/loader_reporter.h"
#include "authoring/options.h"
#include "authoring/yaml_node.h"

namespace muster::authoring {

// Nothing if the text is not a usable YAML document; the reporter then has the reason. Duplicate keys are reported but
// do not end the parse. `file` stands in every place.
std::optional<YamlNode> parse_yaml(std::string_view text, const std::shared_ptr<const std::string>& file,
                                   const YamlLimits& limits, Reporter& reporter);

}  // namespace muster::authoring
