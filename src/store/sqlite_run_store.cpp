#include "store/sqlite_run_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <limits>
#include <system_error>
#include <thread>

#include "model/options.h"
#include "store/packed_run.h"
#include "store/run_id.h"
#include "store/schema.h"
#include "store/sqlite.h"

namespace muster::store {
namespace {

// Names that are tried for a new run: so many may start in eight seconds.
constexpr std::uint32_t kMostAttempts = 64;

constexpr std::string_view kColumns =
    "number, id, started, elapsed, job, version, verdict, exit_code, requests, failed, rate, p50, p95, p99, bytes";
constexpr int kColumnCount = 15;

std::int64_t stored(std::uint64_t value) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max()));
}

std::uint64_t restored(std::int64_t value) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
}

model::Verdict verdict_of(std::string_view text) {
  for (const auto verdict : {model::Verdict::kPassed, model::Verdict::kFailed, model::Verdict::kInterrupted}) {
    if (model::to_text(verdict) == text) return verdict;
  }
  return model::Verdict::kError;
}

RunRecord record_of(const Statement& row) {
  RunRecord record;
  record.id = row.text(1);
  record.started = base::Duration(row.integer(2));
  record.elapsed = base::Duration(row.integer(3));
  record.job = row.text(4);
  record.version = row.text(5);
  record.verdict = verdict_of(row.bytes(6));
  record.exit_code = static_cast<int>(std::clamp<std::int64_t>(row.integer(7), 0, 255));
  record.requests = restored(row.integer(8));
  record.failed = restored(row.integer(9));
  record.rate = std::isfinite(row.real(10)) ? row.real(10) : 0;
  record.p50 = base::Duration(row.integer(11));
  record.p95 = base::Duration(row.integer(12));
  record.p99 = base::Duration(row.integer(13));
  record.bytes = restored(row.integer(14));
  return record;
}

// At most kMaxSourceBytes, cut between characters.
std::string kept_source(std::string_view source) {
  constexpr std::string_view kCut = "\n# the rest was too long to keep\n";
  if (source.size() <= kMaxSourceBytes) return std::string(source);
  std::size_t end = kMaxSourceBytes - kCut.size();
  while (end > 0 && (static_cast<unsigned char>(source[end]) & 0xc0U) == 0x80U) --end;
  return std::string(source.substr(0, end)).append(kCut);
}

class SqliteRunStore : public RunStore {
 public:
  // `empty`: its tables were never made, as on a full disk, and cannot be made now.
  SqliteRunStore(std::unique_ptr<Database> database, bool empty) : database_(std::move(database)), empty_(empty) {}

  base::Expected<std::string> add(const RunRecord& record, std::string_view source,
                                  const model::RunResult& result) override;
  base::Expected<std::vector<RunRecord>> list(const RunQuery& query) override;
  base::Expected<std::vector<RunRecord>> find(std::string_view prefix, std::size_t limit) override;
  base::Expected<StoredRun> load(std::string_view id) override;
  base::Expected<std::size_t> remove(const std::vector<std::string>& ids) override;
  base::Expected<std::size_t> prune(const Retention& retention) override;

 private:
  base::Expected<std::string> free_id(base::Duration started);
  base::Expected<void> insert(const RunRecord& record, std::string_view source, std::string_view packed);
  base::Expected<void> insert_labels(std::int64_t run, const Labels& labels);
  base::Expected<Labels> labels_of(std::int64_t run);
  base::Expected<std::vector<RunRecord>> rows(Statement& statement);

  std::unique_ptr<Database> database_;
  bool empty_ = false;
};

base::Expected<std::string> SqliteRunStore::add(const RunRecord& record, std::string_view source,
                                                const model::RunResult& result) {
  const auto packed = pack(result);
  if (!packed) return std::unexpected(packed.error());
  auto transaction = Transaction::begin(*database_);
  if (!transaction) return std::unexpected(transaction.error());
  auto id = free_id(record.started);
  if (!id) return id;
  RunRecord row = record;
  row.id = *id;
  const std::string text = kept_source(source);
  row.bytes = packed->size() + text.size();
  if (auto done = insert(row, text, *packed); !done) return std::unexpected(done.error());
  if (auto done = transaction->commit(); !done) return std::unexpected(done.error());
  return id;
}

base::Expected<std::string> SqliteRunStore::free_id(base::Duration started) {
  auto taken = database_->prepare("SELECT 1 FROM runs WHERE id = ?");
  if (!taken) return std::unexpected(taken.error());
  for (std::uint32_t attempt = 0; attempt != kMostAttempts; ++attempt) {
    std::string id = run_id(started, attempt);
    taken->reset();
    const auto row = taken->bind(std::string_view(id)).step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return id;
  }
  return base::fail(fmt::format(
      "{} runs that started at the same time are kept already; remove some with 'muster results rm'", kMostAttempts));
}

base::Expected<void> SqliteRunStore::insert(const RunRecord& record, std::string_view source, std::string_view packed) {
  auto run = database_->prepare(
      "INSERT INTO runs (id, started, elapsed, job, version, verdict, exit_code, requests, failed, rate, p50, p95, "
      "p99, "
      "bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  if (!run) return std::unexpected(run.error());
  const auto text = [](std::string_view value) { return value.substr(0, model::kMaxResultText); };
  run->bind(std::string_view(record.id))
      .bind(std::int64_t{record.started.count()})
      .bind(std::int64_t{record.elapsed.count()});
  run->bind(text(record.job)).bind(text(record.version)).bind(model::to_text(record.verdict));
  run->bind(std::int64_t{record.exit_code}).bind(stored(record.requests)).bind(stored(record.failed));
  run->bind(std::isfinite(record.rate) ? record.rate : 0.0);
  run->bind(std::int64_t{record.p50.count()})
      .bind(std::int64_t{record.p95.count()})
      .bind(std::int64_t{record.p99.count()});
  run->bind(stored(record.bytes));
  if (auto done = run->run(); !done) return done;
  const std::int64_t number = database_->last_row();
  auto result = database_->prepare("INSERT INTO results (run, source, result) VALUES (?, ?, ?)");
  if (!result) return std::unexpected(result.error());
  if (auto done = result->bind(number).bind(source).bind_bytes(packed).run(); !done) return done;
  return insert_labels(number, record.labels);
}

base::Expected<void> SqliteRunStore::insert_labels(std::int64_t run, const Labels& labels) {
  auto insert = database_->prepare("INSERT OR REPLACE INTO labels (run, name, value) VALUES (?, ?, ?)");
  if (!insert) return std::unexpected(insert.error());
  for (const auto& [name, value] : labels) {
    insert->reset();
    if (auto done = insert->bind(run).bind(std::string_view(name)).bind(std::string_view(value)).run(); !done) {
      return done;
    }
  }
  return {};
}

base::Expected<Labels> SqliteRunStore::labels_of(std::int64_t run) {
  auto query = database_->prepare("SELECT name, value FROM labels WHERE run = ? ORDER BY name LIMIT ?");
  if (!query) return std::unexpected(query.error());
  query->bind(run).bind(stored(kMaxLabels));
  Labels labels;
  for (;;) {
    const auto row = query->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return labels;
    labels.emplace_back(query->text(0), query->text(1));
  }
}

base::Expected<std::vector<RunRecord>> SqliteRunStore::rows(Statement& statement) {
  std::vector<RunRecord> records;
  for (;;) {
    const auto row = statement.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return records;
    auto labels = labels_of(statement.integer(0));
    if (!labels) return std::unexpected(labels.error());
    records.push_back(record_of(statement));
    records.back().labels = std::move(*labels);
  }
}

base::Expected<std::vector<RunRecord>> SqliteRunStore::list(const RunQuery& query) {
  if (empty_) return std::vector<RunRecord>();
  auto select = database_->prepare(
      fmt::format("SELECT {} FROM runs WHERE (? = '' OR job = ?) AND started < ? AND (? = 0 OR verdict = ? OR (verdict "
                  "= ? AND failed < requests)) ORDER BY started DESC, number DESC LIMIT ? OFFSET ?",
                  kColumns));
  if (!select) return std::unexpected(select.error());
  const std::int64_t before = query.before ? query.before->count() : std::numeric_limits<std::int64_t>::max();
  select->bind(std::string_view(query.job)).bind(std::string_view(query.job)).bind(before);
  select->bind(std::int64_t{query.completed ? 1 : 0});
  select->bind(model::to_text(model::Verdict::kPassed)).bind(model::to_text(model::Verdict::kFailed));
  select->bind(stored(std::min(query.limit, kMaxListed))).bind(stored(query.skip));
  return rows(*select);
}

base::Expected<std::vector<RunRecord>> SqliteRunStore::find(std::string_view prefix, std::size_t limit) {
  if (empty_) return std::vector<RunRecord>();
  auto select = database_->prepare(fmt::format(
      "SELECT {} FROM runs WHERE substr(id, 1, ?) = ? ORDER BY started DESC, number DESC LIMIT ?", kColumns));
  if (!select) return std::unexpected(select.error());
  select->bind(stored(prefix.size())).bind(prefix).bind(stored(std::min(limit, kMaxListed)));
  return rows(*select);
}

base::Expected<StoredRun> SqliteRunStore::load(std::string_view id) {
  const auto none = [id] {
    return base::fail(fmt::format("there is no run '{}'; 'muster results' lists those that are kept", id));
  };
  if (empty_) return none();
  auto select = database_->prepare(fmt::format(
      "SELECT {}, source, result FROM runs JOIN results ON results.run = runs.number WHERE id = ?", kColumns));
  if (!select) return std::unexpected(select.error());
  const auto row = select->bind(id).step();
  if (!row) return std::unexpected(row.error());
  if (!*row) return none();
  StoredRun run;
  run.record = record_of(*select);
  run.source = select->text(kColumnCount);
  auto result = unpack(select->bytes(kColumnCount + 1), fmt::format("the result of {}", id));
  if (!result) return std::unexpected(result.error());
  run.result = std::move(*result);
  run.result.id = run.record.id;
  auto labels = labels_of(select->integer(0));
  if (!labels) return std::unexpected(labels.error());
  run.record.labels = std::move(*labels);
  return run;
}

base::Expected<std::size_t> SqliteRunStore::remove(const std::vector<std::string>& ids) {
  std::size_t removed = 0;
  {
    auto transaction = Transaction::begin(*database_);
    if (!transaction) return std::unexpected(transaction.error());
    auto remove = database_->prepare("DELETE FROM runs WHERE id = ?");
    if (!remove) return std::unexpected(remove.error());
    for (const std::string& id : ids) {
      remove->reset();
      if (auto done = remove->bind(std::string_view(id)).run(); !done) return std::unexpected(done.error());
      removed += static_cast<std::size_t>(database_->changes());
    }
    if (auto done = transaction->commit(); !done) return std::unexpected(done.error());
  }
  // Gives the pages back to the disk; if that fails, they are used for the next runs instead.
  static_cast<void>(database_->run("PRAGMA incremental_vacuum"));
  return removed;
}

base::Expected<std::size_t> SqliteRunStore::prune(const Retention& retention) {
  auto query = database_->prepare(
      "SELECT id FROM (SELECT id, row_number() OVER newest AS place, sum(bytes) OVER newest AS total FROM runs "
      "WINDOW newest AS (ORDER BY started DESC, number DESC ROWS UNBOUNDED PRECEDING)) "
      "WHERE place > 1 AND (place > ? OR total > ?)");
  if (!query) return std::unexpected(query.error());
  query->bind(stored(retention.runs)).bind(stored(retention.bytes));
  std::vector<std::string> ids;
  for (;;) {
    const auto row = query->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) break;
    ids.push_back(query->text(0));
  }
  query->reset();
  return ids.empty() ? base::Expected<std::size_t>(0) : remove(ids);
}

// The folder and an empty file that only its owner may read: SQLite would make it readable by all.
base::Expected<void> make_place(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
    std::filesystem::create_directories(folder, error);
    if (!error) std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
    if (error) {
      return base::fail(fmt::format("the folder '{}' for the history cannot be made: {}; name another by MUSTER_DATA",
                                    folder.string(), error.message()));
    }
  }
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file >= 0) {
    ::close(file);
    return {};
  }
  return base::fail(fmt::format("the history '{}' cannot be opened: {}; name another folder by MUSTER_DATA", path,
                                std::generic_category().message(errno)));
}

base::Expected<void> set_up(Database& database) {
  if (auto done = database.run("PRAGMA foreign_keys = ON"); !done) return done;
  bool fresh = false;
  if (auto good = check_schema(database, fresh); !good) return good;
  if (fresh) {
    // In this order: the first table fixes the one, and the other fixes the file's form.
    if (auto done = database.run("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL"); !done) return done;
  }
  return migrate(database);
}

// Making the file and turning its journal to write-ahead take locks that do not wait for others by themselves.
base::Expected<void> set_up_patiently(Database& database) {
  constexpr auto kPause = std::chrono::milliseconds(20);
  const base::Instant end = base::now() + kBusyWait;
  for (;;) {
    auto done = set_up(database);
    if (done || !database.busy() || base::now() > end) return done;
    std::this_thread::sleep_for(kPause);
  }
}

struct Ready {
  std::unique_ptr<Database> database;
  bool empty = false;  // it has no tables
};

base::Expected<Ready> ready(const std::string& path, Database::Access access) {
  auto database = Database::open(path, access);
  if (!database) return std::unexpected(database.error());
  bool fresh = false;
  auto done = access == Database::Access::kRead ? check_schema(**database, fresh) : set_up_patiently(**database);
  if (!done) return std::unexpected(done.error());
  return Ready{std::move(*database), fresh};
}

}  // namespace

base::Expected<std::unique_ptr<RunStore>> open_sqlite_run_store(const std::string& path, Purpose purpose) {
  if (purpose == Purpose::kWrite) {
    if (auto made = make_place(path); !made) return std::unexpected(made.error());
  }
  auto database = ready(path, Database::Access::kCreate);
  if (!database && purpose == Purpose::kRead) {
    if (auto readable = ready(path, Database::Access::kRead)) database = std::move(readable);
  }
  if (!database) return std::unexpected(database.error());
  return std::make_unique<SqliteRunStore>(std::move(database->database), database->empty);
}

}  // namespace muster::store
