// Where muster keeps what outlives a run, after the XDG base directory specification.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"

namespace muster::store {

// The value of an environment variable; null where it is not set.
using Environment = std::function<const char*(const char* name)>;

// The file of the history: $MUSTER_DATA/runs.db, else $XDG_DATA_HOME/muster/runs.db, else
// $HOME/.local/share/muster/runs.db. Makes nothing. Without any of them there is no such place.
base::Expected<std::string> history_file(const Environment& environment);

// That file and those that SQLite keeps beside it while it is in use; none without such a place.
std::vector<std::string> history_files(const Environment& environment);

}  // namespace muster::store
