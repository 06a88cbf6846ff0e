// Any text as curl commands: imported or refused, without a crash, and what is made loads.
// covers: authoring/import_curl.cpp authoring/import_curl_flags.cpp authoring/import_curl_globs.cpp
// covers: authoring/import_curl_words.cpp authoring/import_draft.cpp authoring/yaml_writer.cpp
#include <cstdint>

#include "authoring/import_fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  muster::authoring::check_import(muster::authoring::curl_importer(), data, size);
  return 0;
}
