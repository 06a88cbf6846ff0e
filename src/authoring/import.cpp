#include "authoring/import.h"

#include <algorithm>

namespace muster::authoring {

std::string_view ImportInput::setting(std::string_view name, std::string_view fallback) const {
  std::string_view found = fallback;
  for (const auto& [key, value] : settings) {
    if (key == name) found = value;
  }
  return found;
}

std::vector<std::string> ImportInput::list(std::string_view name) const {
  std::vector<std::string> all;
  for (const auto& [key, value] : settings) {
    if (key != name) continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, rest.find(','));
      if (!part.empty()) all.emplace_back(part);
      rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    }
  }
  return all;
}

const std::vector<Importer>& built_in_importers() {
  static const std::vector<Importer> kAll{curl_importer(), har_importer(), openapi_importer()};
  return kAll;
}

}  // namespace muster::authoring
