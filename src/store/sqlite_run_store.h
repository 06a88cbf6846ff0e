// Runs kept in one SQLite file: write-ahead log, schema version, migrations. The file is made on first use, readable by
// its owner only, since samples of failing exchanges may hold what nobody else should see.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "store/run_store.h"

namespace muster::store {

enum class Purpose : std::uint8_t {
  kWrite,  // may make the file and change its schema
  kRead,   // also works where nothing may be written
};

// A file that is damaged, is something else, or has the schema of a newer muster is refused and left as it is.
base::Expected<std::unique_ptr<RunStore>> open_sqlite_run_store(const std::string& path, Purpose purpose);

}  // namespace muster::store
