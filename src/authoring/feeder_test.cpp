#include "authoring/feeder.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "authoring/options.h"
#include "authoring/test_scope.h"

namespace muster::authoring {
namespace {

using model::Pick;
using model::Value;
using Table = std::vector<std::vector<std::string>>;

// Columns, then rows; each cell as JSON.
Table table(const Feeder& feeder) {
  Table out{feeder.columns()};
  for (std::size_t row = 0; row < feeder.rows(); ++row) {
    auto& cells = out.emplace_back();
    for (std::size_t column = 0; column < feeder.columns().size(); ++column)
      cells.push_back(shown(feeder.cell(row, column)));
  }
  return out;
}

Table csv(std::string_view text, char delimiter = ',') {
  const auto feeder = Feeder::from_csv(text, "users.csv", delimiter);
  return feeder ? table(*feeder) : Table{{"error: " + feeder.error().message}};
}

std::string csv_error(std::string_view text, char delimiter = ',') {
  const auto feeder = Feeder::from_csv(text, "users.csv", delimiter);
  EXPECT_FALSE(feeder.has_value()) << text;
  return feeder ? "" : feeder.error().message;
}

std::string json_error(std::string_view text) {
  const auto feeder = Feeder::from_json(text, "users.json");
  EXPECT_FALSE(feeder.has_value()) << text;
  return feeder ? "" : feeder.error().message;
}

TEST(CsvFeeder, ReadsRfc4180) {
  EXPECT_EQ(csv("a,b\n1,2\n"), (Table{{"a", "b"}, {"\"1\"", "\"2\""}}));
  EXPECT_EQ(csv("a,b\r\n1,\r\n"), (Table{{"a", "b"}, {"\"1\"", "\"\""}}));
  EXPECT_EQ(csv("a\n\"x, \"\"y\"\"\r\nz\"\n"), (Table{{"a"}, {"\"x, \\\"y\\\"\\r\\nz\""}}));
  EXPECT_EQ(csv("\xEF\xBB\xBF a ,\"b c\"\n1,2"), (Table{{"a", "b c"}, {"\"1\"", "\"2\""}}));
  EXPECT_EQ(csv("a;b\n1,5;2\n", ';'), (Table{{"a", "b"}, {"\"1,5\"", "\"2\""}}));
  EXPECT_EQ(csv("\n\na\n\r\n1\n\n\n2\n"), (Table{{"a"}, {"\"1\""}, {"\"2\""}}));
  EXPECT_EQ(csv("a\n\"\"\n\"x\"\r"), (Table{{"a"}, {"\"\""}, {"\"x\""}}));
}

TEST(CsvFeeder, ErrorsNameTheLine) {
  EXPECT_EQ(
      csv_error("a,b\n1,2\n3\n"),
      "users.csv:3: expected 2 fields as in the header, found 1; quote fields that hold the delimiter or a line break");
  EXPECT_NE(csv_error("a,b\n\"1\n\n\",2\n1,2,3\n").find("users.csv:5: expected 2 fields as in the header, found 3"),
            std::string::npos);
  EXPECT_NE(csv_error("a,a\n1,2\n").find("users.csv:1: column 'a' is there twice"), std::string::npos);
  EXPECT_NE(csv_error("a,,c\n1,2,3\n").find("column 2 of the header has no name"), std::string::npos);
  EXPECT_NE(csv_error("a\n1\n\"x\n\n").find("users.csv:3: a quoted field"), std::string::npos);
  EXPECT_NE(csv_error("a\n\"x\"y\n").find("users.csv:2: text after the closing quote"), std::string::npos);
  EXPECT_NE(csv_error("a\nx\"y\n").find("users.csv:2: a quote inside a field"), std::string::npos);
  EXPECT_NE(csv_error("").find("expected a header line"), std::string::npos);
  EXPECT_NE(csv_error("a,b\n").find("no row of data"), std::string::npos);
  EXPECT_NE(csv_error("a\n1\n", '"').find("cannot be the delimiter"), std::string::npos);
  std::string wide = "c0";
  for (std::size_t at = 1; at <= kFeederLimits.columns; ++at) wide += ",c" + std::to_string(at);
  EXPECT_NE(csv_error(wide + "\n").find("more than 1000 columns"), std::string::npos);
}

TEST(CsvFeeder, CellsStayWhereTheyAreWhenTheFeederMoves) {
  auto loaded = Feeder::from_csv("a\nx\n", "users.csv", ',');
  ASSERT_TRUE(loaded.has_value());
  const char* const before = loaded->cell(0, 0).text().data();
  const Feeder moved = std::move(*loaded);
  EXPECT_EQ(moved.cell(0, 0).text().data(), before);
  EXPECT_EQ(moved.column("a"), 0u);
  EXPECT_EQ(moved.column("b"), std::nullopt);
}

TEST(JsonFeeder, ReadsArraysAndLines) {
  const Table expected{{"a", "b", "c"}, {"1", "\"x\"", "missing"}, {"missing", "1.5", "[1,{\"d\":null}]"}};
  const auto array = Feeder::from_json(R"([{"a": 1, "b": "x"}, {"b": 1.5, "c": [1, {"d": null}]}])", "users.json");
  ASSERT_TRUE(array.has_value()) << array.error().message;
  EXPECT_EQ(table(*array), expected);
  const auto lines =
      Feeder::from_json("{\"a\": 1, \"b\": \"x\"}\r\n\n{\"b\": 1.5, \"c\": [1, {\"d\": null}]}", "users.json");
  ASSERT_TRUE(lines.has_value()) << lines.error().message;
  EXPECT_EQ(table(*lines), expected);
  const auto words = Feeder::from_json("\xEF\xBB\xBF[{\"a\": true, \"b\": null, \"c\": -7}]", "users.json");
  ASSERT_TRUE(words.has_value()) << words.error().message;
  EXPECT_EQ(table(*words), (Table{{"a", "b", "c"}, {"true", "null", "-7"}}));
}

TEST(JsonFeeder, ErrorsNameTheElementOrLine) {
  EXPECT_NE(json_error("[{\"a\": 1}, 2]").find("users.json: element 2: this is no object"), std::string::npos);
  EXPECT_NE(json_error("{\"a\": 1}\n\n{\"a\"}\n").find("users.json:3: "), std::string::npos);
  EXPECT_NE(json_error("{\"a\": 1}\n[1]\n").find("line 2: this is no object"), std::string::npos);
  EXPECT_NE(json_error("[{\"a\": 1, \"a\": 2}]").find("key 'a' is there twice"), std::string::npos);
  EXPECT_NE(json_error("[{\"\": 1}]").find("a key is empty"), std::string::npos);
  EXPECT_NE(json_error("[]").find("no object in it"), std::string::npos);
  EXPECT_NE(json_error("[{}]").find("no keys"), std::string::npos);
  EXPECT_NE(json_error(" \n").find("is empty"), std::string::npos);
  EXPECT_NE(json_error("[1").find("users.json:1: "), std::string::npos);
  std::string wide = "[{\"c\":1";
  for (std::size_t at = 0; at < kFeederLimits.columns; ++at) wide += ",\"c" + std::to_string(at) + "\":1";
  EXPECT_NE(json_error(wide + "}]").find("more than 1000 different keys"), std::string::npos);
}

TEST(JsonFeeder, ManyTextsKeepTheirPlaces) {
  std::string text;
  for (int at = 0; at < 2000; ++at) text += "{\"t\": \"" + std::string(300, static_cast<char>('a' + at % 26)) + "\"}\n";
  const auto feeder = Feeder::from_json(text, "users.json");
  ASSERT_TRUE(feeder.has_value());
  for (std::size_t at = 0; at < 2000; ++at) {
    EXPECT_EQ(feeder->cell(at, 0).text(), std::string(300, static_cast<char>('a' + at % 26)));
  }
}

TEST(Feeder, LoadsFilesByTheirFormat) {
  const std::string path = testing::TempDir() + "feeder_test_" + std::to_string(::getpid());
  const auto write = [&path](std::string_view text) { std::ofstream(path) << text; };
  write("a\tb\n1\t2\n");
  const auto tabs =
      Feeder::load({.name = "d", .format = "csv", .path = path, .pick = {}, .delimiter = "\\t", .where = {}});
  ASSERT_TRUE(tabs.has_value()) << tabs.error().message;
  EXPECT_EQ(tabs->columns(), (std::vector<std::string>{"a", "b"}));
  write("[{\"x\": 1}]");
  const auto json =
      Feeder::load({.name = "d", .format = "json", .path = path, .pick = {}, .delimiter = ",", .where = {}});
  ASSERT_TRUE(json.has_value()) << json.error().message;
  EXPECT_FALSE(Feeder::load({.name = "d", .format = "xml", .path = path, .pick = {}, .delimiter = ",", .where = {}})
                   .has_value());
  EXPECT_FALSE(Feeder::load({.name = "d", .format = "csv", .path = path, .pick = {}, .delimiter = ",,", .where = {}})
                   .has_value());
  std::filesystem::remove(path);
  const auto gone =
      Feeder::load({.name = "d", .format = "csv", .path = path, .pick = {}, .delimiter = ",", .where = {}});
  ASSERT_FALSE(gone.has_value());
  EXPECT_NE(gone.error().message.find("cannot read the data file"), std::string::npos);
  EXPECT_FALSE(
      Feeder::load({.name = "d", .format = "csv", .path = "/", .pick = {}, .delimiter = ",", .where = {}}).has_value());
}

TEST(Feeder, IsMadeFromValues) {
  const std::vector<model::Value> values{model::Value::of(std::string_view("a")), model::Value::of(std::int64_t{7}),
                                         model::Value::json("[1,2]"), model::Value::of(true)};
  const Feeder feeder = Feeder::from_values("token", values);
  EXPECT_EQ(table(feeder), (Table{{"token"}, {"\"a\""}, {"7"}, {"[1,2]"}, {"true"}}));
  EXPECT_EQ(Feeder::from_values("token", {}).rows(), 0u);
}

TEST(FeederCursor, SequentialGoesRoundAndPerVuStays) {
  base::Random random(1);
  FeederCursor sequential(3, Pick::kSequential, 1, 2);
  std::vector<std::size_t> rows;
  for (int at = 0; at < 6; ++at) rows.push_back(*sequential.next(0, random));
  EXPECT_EQ(rows, (std::vector<std::size_t>{1, 0, 2, 1, 0, 2}));
  FeederCursor per_vu(3, Pick::kPerVu, 0, 2);
  EXPECT_EQ(per_vu.next(7, random), 1u);
  EXPECT_EQ(per_vu.next(7, random), 1u);
  for (const Pick pick : {Pick::kSequential, Pick::kRandom, Pick::kUnique, Pick::kPerVu}) {
    EXPECT_EQ(FeederCursor(0, pick, 0, 1).next(0, random), std::nullopt);
  }
}

RC_GTEST_PROP(FeederCursorProperty, UniqueRowsOfAllCoresAreDisjointAndComplete, ()) {
  const auto rows = *rc::gen::inRange<std::size_t>(0, 200);
  const auto cores = *rc::gen::inRange<std::uint32_t>(1, 17);
  base::Random random(1);
  std::vector<int> seen(rows);
  for (std::uint32_t core = 0; core < cores; ++core) {
    FeederCursor cursor(rows, Pick::kUnique, core, cores);
    while (const auto row = cursor.next(core, random)) {
      RC_ASSERT(*row < rows);
      ++seen[*row];
    }
    RC_ASSERT(!cursor.next(core, random).has_value());
  }
  RC_ASSERT(std::ranges::all_of(seen, [](int count) { return count == 1; }));
}

RC_GTEST_PROP(FeederCursorProperty, EveryPickStaysWithinTheRows, (std::uint64_t vu)) {
  const auto rows = *rc::gen::inRange<std::size_t>(1, 50);
  const auto core = *rc::gen::inRange<std::uint32_t>(0, 70);
  base::Random random(vu);
  for (const Pick pick : {Pick::kSequential, Pick::kRandom, Pick::kPerVu}) {
    FeederCursor cursor(rows, pick, core, 70);
    for (int at = 0; at < 100; ++at) RC_ASSERT(cursor.next(vu, random).value() < rows);
  }
}

// A writer as simple as can be, to read back what it wrote.
std::string written(const Table& rows, bool crlf, bool all_quoted) {
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t at = 0; at < row.size(); ++at) {
      if (at > 0) out += ',';
      const bool quote = all_quoted || row[at].empty() || row[at].find_first_of(",\"\r\n") != std::string::npos;
      if (quote) out += '"';
      for (const char c : row[at]) out += c == '"' ? std::string("\"\"") : std::string(1, c);
      if (quote) out += '"';
    }
    out += crlf ? "\r\n" : "\n";
  }
  return out;
}

RC_GTEST_PROP(CsvProperty, WhatWasWrittenReadsBack, (bool crlf, bool all_quoted)) {
  const auto columns = *rc::gen::inRange<std::size_t>(1, 5);
  const auto cell = rc::gen::container<std::string>(rc::gen::element('a', 'b', ',', '"', '\n', '\r', ' ', ';'));
  const auto rows =
      *rc::gen::nonEmpty(rc::gen::container<Table>(rc::gen::container<std::vector<std::string>>(columns, cell)));
  Table whole{{}};
  for (std::size_t at = 0; at < columns; ++at) whole[0].push_back("c" + std::to_string(at));
  whole.insert(whole.end(), rows.begin(), rows.end());
  const auto feeder = Feeder::from_csv(written(whole, crlf, all_quoted), "t", ',');
  if (!feeder) RC_FAIL(feeder.error().message);
  RC_ASSERT(feeder->rows() == rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      RC_ASSERT(std::string(feeder->cell(row, column).text()) == rows[row][column]);
    }
  }
}

}  // namespace
}  // namespace muster::authoring
