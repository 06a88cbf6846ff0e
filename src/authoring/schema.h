// A JSON Schema (draft 2020-12) of the YAML format, for editors: completion, hover texts and red lines as one types.
// Made from the same descriptors as the loader; what no schema can say (names, order, expressions) stays with it.
#pragma once

#include <string>

#include "authoring/loader.h"

namespace muster::authoring {

// Indented JSON, ending in a newline.
std::string json_schema(const Languages& languages);

}  // namespace muster::authoring
