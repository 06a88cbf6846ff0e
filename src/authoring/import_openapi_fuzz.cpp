// Any text as a description: imported or refused, without a crash, and what is made loads.
// covers: authoring/import_openapi.cpp authoring/openapi_sample.cpp authoring/openapi_style.cpp
// covers: authoring/openapi_pattern.cpp authoring/import_json.cpp
#include <cstdint>

#include "authoring/import_fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  muster::authoring::check_import(muster::authoring::openapi_importer(), data, size, {{"server", "http://a.test"}});
  return 0;
}
