// Where a file that a job names lies.
#pragma once

#include <string>

#include "model/where.h"

namespace muster::authoring {

// `path` relative to the folder of the file that names it at `where`; as it stands if it is absolute or comes from the
// command line.
std::string resolve_path(const model::Where& where, const std::string& path);

}  // namespace muster::authoring
