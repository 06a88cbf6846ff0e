// The tables of the SQLite history, and how older files get them. The version lies in the file's user_version; each
// migration takes it one further, all of them in one transaction.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "store/sqlite.h"

namespace muster::store {

constexpr std::int64_t kSchemaVersion = 1;
constexpr std::int64_t kApplicationId = 0x6d737472;  // "mstr": tells the file from other SQLite files

// Nothing if the file is a history that this muster can read as it is; `fresh` is set where it is empty.
base::Expected<void> check_schema(const Database& database, bool& fresh);

// Brings the file to kSchemaVersion. Several processes may do so at once.
base::Expected<void> migrate(Database& database);

}  // namespace muster::store
