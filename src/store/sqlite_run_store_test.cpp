#include "store/sqlite_run_store.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "store/run_store_conformance.h"
#include "store/schema.h"
#include "store/sqlite.h"

namespace muster::store {
namespace {

using ::testing::HasSubstr;

// A folder of its own, gone with the last who holds it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "muster-store-XXXXXX").string();
    path_ = ::mkdtemp(name.data()) == nullptr ? "" : name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

OpenStore fresh_history() {
  auto folder = std::make_shared<Folder>();
  return [folder] {
    auto store = open_sqlite_run_store(folder->file("new/folder/runs.db"), Purpose::kWrite);
    EXPECT_TRUE(store.has_value()) << store.error().message;
    return store ? std::move(*store) : nullptr;
  };
}

INSTANTIATE_TEST_SUITE_P(Sqlite, RunStoreConformance, ::testing::Values(StoreFactory(fresh_history)));

class SqliteRunStore : public ::testing::Test {
 protected:
  std::string file() const { return folder_.file("runs.db"); }
  std::string refusal(Purpose purpose = Purpose::kWrite) const {
    const auto store = open_sqlite_run_store(file(), purpose);
    return store ? "it was opened" : store.error().message;
  }
  std::string keep_one() const {
    auto store = open_sqlite_run_store(file(), Purpose::kWrite);
    EXPECT_TRUE(store.has_value()) << store.error().message;
    const model::RunResult run = test::small_run("shop", 1);
    return (*store)->add(test::record_of(run), "", run).value_or("");
  }

  Folder folder_;
};

TEST_F(SqliteRunStore, MakesAFileForItsOwnerOnly) {
  keep_one();
  struct stat found{};
  ASSERT_EQ(::stat(file().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
}

TEST_F(SqliteRunStore, RefusesADamagedFileAndLeavesItAsItIs) {
  const std::string text = "this is no database at all, but long enough to be looked at: " + std::string(2000, 'x');
  std::ofstream(file()) << text;
  EXPECT_THAT(refusal(), HasSubstr("damaged"));
  EXPECT_THAT(refusal(), HasSubstr("mv '"));
  std::ifstream again(file());
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(again), {}), text);
}

TEST_F(SqliteRunStore, TellsWhichRunOfADamagedFileCannotBeRead) {
  const std::string id = keep_one();
  {
    auto database = Database::open(file(), Database::Access::kCreate);
    ASSERT_TRUE(database.has_value());
    ASSERT_TRUE((*database)->run("UPDATE results SET result = x'0102'").has_value());
  }
  auto store = open_sqlite_run_store(file(), Purpose::kRead);
  ASSERT_TRUE(store.has_value());
  EXPECT_THAT((*store)->load(id).error().message, HasSubstr("the result of " + id + " cannot be read"));
  EXPECT_EQ((*store)->list({})->size(), 1u);
}

TEST_F(SqliteRunStore, RefusesTheSchemaOfANewerMuster) {
  keep_one();
  {
    auto database = Database::open(file(), Database::Access::kCreate);
    ASSERT_TRUE((*database)->run("PRAGMA user_version = 7").has_value());
  }
  EXPECT_THAT(refusal(), HasSubstr("newer muster (its schema is 7, this one knows 1)"));
  EXPECT_THAT(refusal(Purpose::kRead), HasSubstr("newer muster"));
}

TEST_F(SqliteRunStore, RefusesADatabaseOfSomethingElse) {
  {
    auto database = Database::open(file(), Database::Access::kCreate);
    ASSERT_TRUE((*database)->run("CREATE TABLE cats (name TEXT)").has_value());
  }
  EXPECT_THAT(refusal(), HasSubstr("something else than muster"));
}

TEST_F(SqliteRunStore, RefusesAFolderInItsPlace) {
  std::filesystem::create_directory(file());
  EXPECT_THAT(refusal(), HasSubstr("cannot be opened"));
}

TEST_F(SqliteRunStore, ReadsAHistoryWhoseTablesCouldNotBeMadeAsEmpty) {
  std::ofstream(file()).close();
  // As on a full disk: nothing can be written. Nothing may be printed until the limit is lifted.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &none);
  const std::string writing = refusal(Purpose::kWrite);
  auto store = open_sqlite_run_store(file(), Purpose::kRead);
  const auto listed = store ? (*store)->list({}) : std::vector<RunRecord>(1);
  const auto found = store ? (*store)->find("r-", 5) : std::vector<RunRecord>(1);
  const std::string loading = store ? (*store)->load("r-1").error().message : store.error().message;
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(writing, "it was opened");
  ASSERT_TRUE(listed.has_value()) << listed.error().message;
  EXPECT_TRUE(listed->empty());
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_TRUE(found->empty());
  EXPECT_THAT(loading, HasSubstr("there is no run 'r-1'"));
}

TEST_F(SqliteRunStore, TakesAPathWithOddCharacters) {
  const std::string odd = folder_.file("100% a?b#c/runs.db");
  ASSERT_TRUE(open_sqlite_run_store(odd, Purpose::kWrite).has_value());
  EXPECT_TRUE(std::filesystem::exists(odd));
}

TEST_F(SqliteRunStore, IsMadeOnceByAllWhoComeAtTheSameTime) {
  constexpr int kThreads = 8;
  constexpr int kRuns = 5;
  std::vector<std::thread> threads;
  std::atomic<int> kept = 0;
  std::vector<std::string> problems(kThreads);
  for (std::size_t i = 0; i != kThreads; ++i) {
    threads.emplace_back([&, i] {
      auto store = open_sqlite_run_store(file(), Purpose::kWrite);
      if (!store) {
        problems[i] = store.error().message;
        return;
      }
      for (int run = 0; run != kRuns; ++run) {
        const model::RunResult result = test::small_run("shop", i);
        const auto id = (*store)->add(test::record_of(result), "", result);
        if (id) {
          ++kept;
        } else {
          problems[i] = id.error().message;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& problem : problems) EXPECT_EQ(problem, "");
  EXPECT_EQ(kept, kThreads * kRuns);
  auto store = open_sqlite_run_store(file(), Purpose::kRead);
  EXPECT_EQ((*store)->list({})->size(), static_cast<std::size_t>(kThreads * kRuns));
}

TEST_F(SqliteRunStore, GivesTheSpaceOfRemovedRunsBack) {
  auto store = open_sqlite_run_store(file(), Purpose::kWrite);
  ASSERT_TRUE(store.has_value());
  std::vector<std::string> ids;
  model::RunResult run = test::small_run("shop", 1);
  const std::string source(500'000, '#');
  for (int i = 0; i != 10; ++i) ids.push_back(*(*store)->add(test::record_of(run), source, run));
  EXPECT_EQ((*store)->remove(ids).value_or(0), 10u);
  store->reset();
  EXPECT_LT(std::filesystem::file_size(file()), 500'000u);
}

}  // namespace
}  // namespace muster::store
