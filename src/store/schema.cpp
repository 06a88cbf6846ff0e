#include "store/schema.h"

#include <fmt/format.h>

#include <array>

namespace muster::store {
namespace {

// Times in nanoseconds. The figures of `runs` are for lists; what is in `results` is the truth. It is a table of its
// own so that listing reads no blobs.
constexpr const char* kFirst = R"(
  CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    started INTEGER NOT NULL,
    elapsed INTEGER NOT NULL,
    job TEXT NOT NULL,
    version TEXT NOT NULL,
    verdict TEXT NOT NULL,
    exit_code INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    rate REAL NOT NULL,
    p50 INTEGER NOT NULL,
    p95 INTEGER NOT NULL,
    p99 INTEGER NOT NULL,
    bytes INTEGER NOT NULL
  );
  CREATE INDEX runs_by_time ON runs (started, number);
  CREATE INDEX runs_by_job ON runs (job, started, number);
  CREATE TABLE labels (
    run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (run, name)
  ) WITHOUT ROWID;
  CREATE TABLE results (
    run INTEGER PRIMARY KEY REFERENCES runs (number) ON DELETE CASCADE,
    source TEXT NOT NULL,
    result BLOB NOT NULL
  );
)";

constexpr std::array<const char*, kSchemaVersion> kMigrations = {kFirst};

base::Expected<void> refuse(const Database& database, std::string_view why) {
  return base::fail(fmt::format("'{}' {}", database.path(), why));
}

}  // namespace

base::Expected<void> check_schema(const Database& database, bool& fresh) {
  // In this order: another process may make the schema between two looks, and what is seen after its tables is whole.
  const auto tables = database.number("SELECT count(*) FROM sqlite_schema");
  if (!tables) return std::unexpected(tables.error());
  const auto version = database.number("PRAGMA user_version");
  if (!version) return std::unexpected(version.error());
  const auto owner = database.number("PRAGMA application_id");
  if (!owner) return std::unexpected(owner.error());
  fresh = *tables == 0 && *version == 0;
  if (fresh) return {};
  if (*owner != kApplicationId) {
    return refuse(database, "is a database of something else than muster; name another folder by MUSTER_DATA");
  }
  if (*version < 0)
    return refuse(database, "has no schema that muster ever wrote; move it away and muster begins anew");
  if (*version > kSchemaVersion) {
    return refuse(database, fmt::format("was written by a newer muster (its schema is {}, this one knows {}); use that "
                                        "one, or name another folder by MUSTER_DATA",
                                        *version, kSchemaVersion));
  }
  return {};
}

base::Expected<void> migrate(Database& database) {
  if (const auto version = database.number("PRAGMA user_version"); version && *version == kSchemaVersion) return {};
  auto transaction = Transaction::begin(database);
  if (!transaction) return std::unexpected(transaction.error());
  // Another process may have been here between the first look and the lock.
  bool fresh = false;
  if (auto good = check_schema(database, fresh); !good) return good;
  const auto version = database.number("PRAGMA user_version");
  if (!version) return std::unexpected(version.error());
  if (*version == kSchemaVersion) return {};
  for (std::size_t next = static_cast<std::size_t>(*version); next < kMigrations.size(); ++next) {
    if (auto done = database.run(kMigrations[next]); !done) return done;
  }
  const std::string stamp =
      fmt::format("PRAGMA user_version = {}; PRAGMA application_id = {}", kSchemaVersion, kApplicationId);
  if (auto done = database.run(stamp.c_str()); !done) return done;
  return transaction->commit();
}

}  // namespace muster::store
