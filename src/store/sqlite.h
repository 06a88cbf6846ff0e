// SQLite behind a small face: what fails is a value with a sentence that names the file and says what to do. One
// connection belongs to one thread; statements do not outlive it. Blocks on the disk, and up to kBusyWait on others.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace muster::store {

class Database;

class Statement {
 public:
  // Parameters in the order of their question marks; what goes wrong is told by the next step(). Texts and bytes are
  // not copied: they live until the statement was run.
  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind(std::string_view text);
  Statement& bind_bytes(std::string_view bytes);

  // True: a row is there; false: there are no more.
  base::Expected<bool> step();
  // For statements that give no rows.
  base::Expected<void> run();
  // Ready to be bound and run anew.
  void reset();

  // Of the present row; columns count from 0. Views are valid until the next step().
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string_view bytes(int column) const;
  std::string text(int column) const { return std::string(bytes(column)); }

 private:
  friend class Database;
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };

  Statement(const Database& database, sqlite3_stmt* statement) : database_(&database), statement_(statement) {}
  void note(int status);

  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
  int next_ = 1;
  int failed_ = SQLITE_OK;
};

class Database {
 public:
  enum class Access : std::uint8_t {
    kCreate,  // read and write; made if it is not there
    kRead,    // read only, also where nothing may be written; nobody may write at the same time
  };

  static base::Expected<std::unique_ptr<Database>> open(const std::string& path, Access access);

  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // `sql`: one or more statements without parameters and rows.
  base::Expected<void> run(const char* sql);
  base::Expected<Statement> prepare(std::string_view sql) const;
  // The number that a statement such as "PRAGMA user_version" gives.
  base::Expected<std::int64_t> number(std::string_view sql) const;
  std::int64_t last_row() const { return sqlite3_last_insert_rowid(handle_.get()); }
  std::int64_t changes() const { return sqlite3_changes64(handle_.get()); }
  bool read_only() const { return sqlite3_db_readonly(handle_.get(), "main") == 1; }
  bool busy() const { return (sqlite3_errcode(handle_.get()) & 0xff) == SQLITE_BUSY; }

  const std::string& path() const { return path_; }
  // The sentence for what SQLite reported.
  base::Error trouble(int status) const;

 private:
  struct Closer {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };

  Database(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}

  std::string path_;
  std::unique_ptr<sqlite3, Closer> handle_;
};

// Takes the right to write at once, so that a transaction never fails half way for want of it; undone unless committed.
class Transaction {
 public:
  static base::Expected<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  base::Expected<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}

  Database* database_;
};

}  // namespace muster::store
