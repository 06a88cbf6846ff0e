#include "store/sqlite.h"

#include <fmt/format.h>

#include "store/options.h"

namespace muster::store {
namespace {

// Longest text or blob that SQLite will handle for us, whatever a damaged file says.
constexpr int kMaxValueBytes = static_cast<int>(kMaxPackedBytes + (std::size_t{1} << 20));

// A name for file: URIs (RFC 3986): what has a meaning there is encoded.
std::string uri_of(const std::string& path, std::string_view options) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      uri += c;
    }
  }
  return uri.append("?").append(options);
}

std::string describe(const std::string& path, int status, std::string_view detail) {
  const std::string damaged = fmt::format(
      "move it away (mv '{0}' '{0}.damaged') and muster begins a new one; 'sqlite3 {0}.damaged .recover' may save what "
      "is in the old one",
      path);
  switch (status & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fmt::format("the history '{}' is in use by another process, and was for {} s; try again", path,
                         std::chrono::duration_cast<std::chrono::seconds>(kBusyWait).count());
    case SQLITE_FULL:
      return fmt::format(
          "the disk of the history '{}' is full; free some space, or name a folder on another disk by "
          "MUSTER_DATA",
          path);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return fmt::format("the history '{}' may not be written; name a folder of your own by MUSTER_DATA", path);
    case SQLITE_CANTOPEN:
      return fmt::format("the history '{}' cannot be opened ({}); name another folder by MUSTER_DATA", path, detail);
    case SQLITE_NOTADB:
      return fmt::format("'{}' is no history of muster, or it is damaged; {}", path, damaged);
    case SQLITE_CORRUPT:
      return fmt::format("the history '{}' is damaged; {}", path, damaged);
    case SQLITE_IOERR:
      return fmt::format("the history '{}' cannot be read or written ({}): is its disk full or failing?", path, detail);
    case SQLITE_NOMEM:
      return fmt::format("there is not enough memory to use the history '{}'", path);
    default:
      return fmt::format("the history '{}': {}", path, detail);
  }
}

}  // namespace

void Statement::note(int status) {
  if (failed_ == SQLITE_OK) failed_ = status;
}

Statement& Statement::bind(std::int64_t value) {
  note(sqlite3_bind_int64(statement_.get(), next_++, value));
  return *this;
}

Statement& Statement::bind(double value) {
  note(sqlite3_bind_double(statement_.get(), next_++, value));
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  note(sqlite3_bind_text64(statement_.get(), next_++, text.empty() ? "" : text.data(), text.size(), nullptr,
                           SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind_bytes(std::string_view bytes) {
  note(sqlite3_bind_blob64(statement_.get(), next_++, bytes.empty() ? "" : bytes.data(), bytes.size(), nullptr));
  return *this;
}

base::Expected<bool> Statement::step() {
  if (failed_ != SQLITE_OK) return std::unexpected(database_->trouble(failed_));
  const int status = sqlite3_step(statement_.get());
  if (status == SQLITE_ROW) return true;
  if (status == SQLITE_DONE) return false;
  return std::unexpected(database_->trouble(status));
}

base::Expected<void> Statement::run() {
  auto row = step();
  if (!row) return std::unexpected(row.error());
  return {};
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  next_ = 1;
  failed_ = SQLITE_OK;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::string_view Statement::bytes(int column) const {
  // The pointer first, then the size: the other order may convert in between (sqlite3_column_bytes).
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (data == nullptr || size <= 0) return {};
  return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

base::Expected<std::unique_ptr<Database>> Database::open(const std::string& path, Access access) {
  sqlite3* handle = nullptr;
  const bool read = access == Access::kRead;
  // Immutable: a journal in write-ahead form cannot be read where its shared memory cannot be made.
  const std::string uri = uri_of(path, read ? "mode=ro&immutable=1" : "mode=rwc");
  const int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  const int status = sqlite3_open_v2(uri.c_str(), &handle, flags, nullptr);
  std::unique_ptr<Database> database(new Database(path, handle));
  if (handle == nullptr) return base::fail(describe(path, SQLITE_NOMEM, ""));
  if (status != SQLITE_OK) return std::unexpected(database->trouble(status));
  sqlite3_busy_timeout(handle, static_cast<int>(kBusyWait.count()));
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
  // The file may come from anywhere: nothing in its schema may do more than name tables.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return database;
}

base::Expected<void> Database::run(const char* sql) {
  const int status = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (status != SQLITE_OK) return std::unexpected(trouble(status));
  return {};
}

base::Expected<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int status = sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (status != SQLITE_OK) return std::unexpected(trouble(status));
  return Statement(*this, statement);
}

base::Expected<std::int64_t> Database::number(std::string_view sql) const {
  auto statement = prepare(sql);
  if (!statement) return std::unexpected(statement.error());
  auto row = statement->step();
  if (!row) return std::unexpected(row.error());
  return *row ? statement->integer(0) : 0;
}

base::Error Database::trouble(int status) const {
  return {describe(path_, status, sqlite3_errmsg(handle_.get()))};
}

base::Expected<Transaction> Transaction::begin(Database& database) {
  if (auto begun = database.run("BEGIN IMMEDIATE"); !begun) return std::unexpected(begun.error());
  return Transaction(database);
}

Transaction::~Transaction() {
  if (database_ != nullptr) static_cast<void>(database_->run("ROLLBACK"));
}

base::Expected<void> Transaction::commit() {
  auto done = database_->run("COMMIT");
  // A commit that found the disk full may be tried again or undone: here it is undone.
  if (done) database_ = nullptr;
  return done;
}

}  // namespace muster::store
