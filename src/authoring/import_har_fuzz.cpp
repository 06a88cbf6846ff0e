// Any text as a recording: imported or refused, without a crash, and what is made loads. The first byte chooses
// options.
// covers: authoring/import_har.cpp authoring/import_har_entry.cpp authoring/import_correlate.cpp
// covers: authoring/import_json.cpp
#include <cstdint>

#include "authoring/import_fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::pair<std::string, std::string>> settings{{"host", "*"}};
  if (size > 0 && (data[0] & 1) != 0) settings.emplace_back("correlate", "true");
  if (size > 0 && (data[0] & 2) != 0) settings.emplace_back("parallel", "true");
  muster::authoring::check_import(muster::authoring::har_importer(), data, size, std::move(settings));
  return 0;
}
