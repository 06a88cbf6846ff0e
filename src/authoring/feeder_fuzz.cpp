// Any text as a data file. The first byte picks the format and whether it is read from a file or from memory. Whatever
// loads is a full table; written out in the same format it loads as the same table; and cursors deal its rows out as
// they promise.
// covers: authoring/feeder.h authoring/feeder.cpp authoring/feeder_csv.cpp authoring/feeder_json.cpp
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "authoring/feeder.h"
#include "authoring/value_text.h"
#include "base/fuzzing.h"

namespace muster::authoring {
namespace {

using base::require;
using model::Value;
using model::ValueType;

// A file that only exists in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text) : fd_(memfd_create("fuzz", 0)) {
    require(fd_ >= 0 && write(fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(fd_); }
  std::string path() const { return fmt::format("/proc/self/fd/{}", fd_); }

 private:
  int fd_;
};

// Byte 0: bits 0 and 1 choose CSV with ',', CSV with bits 2 to 7 as the delimiter (from the space on), JSON, or an
// unknown format; from a file where bit 7 is set.
struct Format {
  explicit Format(std::uint8_t choice)
      : name(choice % 4 == 2 ? "json" : (choice % 4 == 3 ? "xml" : "csv")),
        delimiter(choice % 4 == 0 ? ',' : static_cast<char>(choice / 4 + (choice / 4 == 9 ? 0 : ' '))),
        file(choice >= 128) {}

  std::string_view name;
  char delimiter;
  bool file;
};

base::Expected<Feeder> read(std::string_view text, const Format& format) {
  if (!format.file && format.name == "csv") return Feeder::from_csv(text, "fuzz.csv", format.delimiter);
  if (!format.file && format.name == "json") return Feeder::from_json(text, "fuzz.csv");
  const MemoryFile file(text);
  model::DataSource source;
  source.name = "fuzz";
  source.format = format.name;
  source.path = format.name == "xml" && text.empty() ? "/nowhere" : file.path();
  source.delimiter =
      format.delimiter == '\t' ? "\\t" : std::string(text.starts_with("long") ? 2U : 1U, format.delimiter);
  return Feeder::load(source);
}

void append_csv(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) out.append(c == '"' ? 2U : 1U, c);
  out += '"';
}

std::string as_csv(const Feeder& feeder, char delimiter) {
  std::string out;
  const std::size_t columns = feeder.columns().size();
  for (std::size_t row = 0; row <= feeder.rows(); ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      append_csv(out, row == 0 ? std::string_view(feeder.columns()[column]) : feeder.cell(row - 1, column).text());
      out += column + 1 < columns ? delimiter : '\n';
    }
  }
  return out;
}

std::string as_json(const Feeder& feeder) {
  // One object a line: in an array they would be deeper by one, and perhaps too deep.
  std::string out;
  for (std::size_t row = 0; row < feeder.rows(); ++row) {
    out += '{';
    bool first = true;
    for (std::size_t column = 0; column < feeder.columns().size(); ++column) {
      const Value& cell = feeder.cell(row, column);
      if (cell.missing()) continue;
      if (!first) out += ',';
      first = false;
      append_as_json(out, Value::of(std::string_view(feeder.columns()[column])));
      out += ':';
      append_as_json(out, cell);
    }
    out += "}\n";
  }
  return out;
}

bool same(const Value& left, const Value& right) {
  // Large integers of JSON are numbers, and a whole number may come back as an integer.
  if (left.numeric() && right.numeric()) return left.number() == right.number();
  if (left.type() != right.type()) return false;
  if (left.type() == ValueType::kBool) return left.boolean() == right.boolean();
  return !left.textual() || left.text() == right.text();
}

void require_same_table(const Feeder& left, const Feeder& right) {
  require(left.columns().size() == right.columns().size() && left.rows() == right.rows());
  for (std::size_t column = 0; column < left.columns().size(); ++column) {
    // A key may come first in another row than before.
    const auto there = right.column(left.columns()[column]);
    require(there.has_value());
    for (std::size_t row = 0; row < left.rows(); ++row) {
      require(same(left.cell(row, column), right.cell(row, *there)));
    }
  }
  require(!left.column("no such column, surely"));
}

// Unique rows are dealt out once each over all cores, by a shared counter or without; sequential ones in turn; each VU
// keeps its own.
void require_fair_cursors(std::size_t rows, bool shared) {
  base::Random random(1);
  constexpr std::uint32_t kCores = 3;
  std::atomic<std::uint64_t> next{0};
  std::vector<std::size_t> taken;
  for (std::uint32_t core = 0; core < kCores; ++core) {
    FeederCursor unique(rows, model::Pick::kUnique, core, kCores, shared ? &next : nullptr);
    while (const auto row = unique.next(0, random)) taken.push_back(*row);
    FeederCursor turns(rows, model::Pick::kSequential, core, kCores);
    require(turns.next(0, random) == core % rows && turns.next(0, random) == (core % rows + kCores) % rows);
  }
  std::ranges::sort(taken);
  require(taken.size() == rows && taken.front() == 0 && taken.back() + 1 == rows);
  require(std::ranges::adjacent_find(taken) == taken.end());
  require(*FeederCursor(rows, model::Pick::kRandom, 0, 1).next(0, random) < rows);
  require(*FeederCursor(rows, model::Pick::kPerVu, 0, 1).next(7, random) == 7 % rows);
  require(!FeederCursor(0, model::Pick::kRandom, 0, 1).next(0, random));
}

void require_values_kept(std::string_view text) {
  std::vector<model::Value> values;
  while (!text.empty() && values.size() < 10) {
    const std::size_t size = std::min<std::size_t>(text.size(), 1 + text.size() / 3);
    values.push_back(model::Value::of(text.substr(0, size)));
    text.remove_prefix(size);
  }
  const Feeder feeder = Feeder::from_values("v", values);
  require(feeder.rows() == values.size() && feeder.column("v") == 0);
  for (std::size_t row = 0; row < values.size(); ++row) require(feeder.cell(row, 0).text() == values[row].text());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text = base::text_of(data + 1, size - 1);
  const Format format(data[0]);
  require_values_kept(text);
  const auto feeder = read(text, format);
  if (!feeder) {
    require(!feeder.error().message.empty());
    return 0;
  }
  require(feeder->rows() != 0 && !feeder->columns().empty());
  const bool json = format.name == "json";
  const auto again = json ? Feeder::from_json(as_json(*feeder), "again")
                          : Feeder::from_csv(as_csv(*feeder, format.delimiter), "again", format.delimiter);
  require(again.has_value());
  require_same_table(*feeder, *again);
  require_fair_cursors(feeder->rows(), false);
  require_fair_cursors(feeder->rows(), true);
  return 0;
}

}  // namespace muster::authoring
