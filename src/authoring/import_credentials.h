// Credentials in the headers of what is imported. Those of a recording are not written down: a variable of the
// environment takes their place, and a note says which. Belongs to one import.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "authoring/import_draft.h"
#include "authoring/yaml_writer.h"

namespace muster::authoring {

// Whether a header of that name holds credentials, apart from variables between the marks of import_draft.h, the scheme
// ("Bearer") and the names of cookies.
bool holds_credentials(std::string_view header, std::string_view value);

class ImportCredentials {
 public:
  explicit ImportCredentials(ImportDraft& draft) : draft_(draft) {}

  // Puts ${env.NAME} in the place of each credential in `headers`, a map as HeaderList makes it. A value that is not
  // the same in `before` has got a hole since, and stays; null: all are as recorded.
  void hide(YamlOut& headers, const YamlOut* before = nullptr);

 private:
  // Equal values of one kind share a variable.
  using Known = std::vector<std::pair<std::string, std::string>>;  // value and variable

  void hide_value(const std::string& header, YamlOut& value, const YamlOut* before);
  std::string variable_for(const std::string& header, std::string_view scheme, const std::string& value);

  ImportDraft& draft_;
  std::map<std::string, Known> known_;  // by the name that the first of a kind has
  std::set<std::string> taken_;         // variables
  std::set<std::string> too_many_;      // kinds of which no more values get a variable
};

}  // namespace muster::authoring
