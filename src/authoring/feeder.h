// Rows of data for VUs, read whole before the clock starts and then only read, from any number of cores.
// Which row an iteration gets is decided by a FeederCursor that belongs to one core.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "model/job.h"
#include "model/value.h"

namespace muster::authoring {

class Feeder {
 public:
  // Errors name the file, the line and what to do.
  static base::Expected<Feeder> load(const model::DataSource& source);
  // `what` names the text in errors. CSV: RFC 4180 with a header line. JSON: an array of objects, or one object a line.
  static base::Expected<Feeder> from_csv(std::string_view text, std::string_view what, char delimiter);
  static base::Expected<Feeder> from_json(std::string_view text, std::string_view what);
  // One column of values, which are copied, as `use` of a key with `keep: all` gives.
  static Feeder from_values(std::string column, std::span<const model::Value> values);

  std::size_t rows() const { return columns_.empty() ? 0 : cells_.size() / columns_.size(); }
  const std::vector<std::string>& columns() const { return columns_; }
  std::optional<std::size_t> column(std::string_view name) const;
  // Lives as long as the feeder (also after moving it).
  const model::Value& cell(std::size_t row, std::size_t column) const { return cells_[row * columns_.size() + column]; }

 private:
  friend class CsvReader;
  friend class JsonRows;

  static base::Expected<Feeder> from_owned_csv(std::unique_ptr<std::string> text, std::string_view what,
                                               char delimiter);

  std::vector<std::string> columns_;
  std::vector<model::Value> cells_;
  std::vector<std::unique_ptr<std::string>> text_;  // what the cells' views point into
};

class FeederCursor {
 public:
  // Core `core` of `cores`. Sequential: core c takes rows c, c + cores, …, and starts again at the end. Per VU: VU v
  // always has row v modulo rows. Unique: the next row of `unique`, which all cores share; without it, as sequential
  // but once.
  FeederCursor(std::size_t rows, model::Pick pick, std::uint32_t core, std::uint32_t cores,
               std::atomic<std::uint64_t>* unique = nullptr);

  // The row for the next iteration of VU `vu` (from 0, whole run), or nothing when unique rows have run out.
  std::optional<std::size_t> next(std::uint64_t vu, base::Random& random);

 private:
  std::size_t rows_;
  model::Pick pick_;
  std::uint64_t next_;
  std::uint64_t step_;
  std::atomic<std::uint64_t>* unique_;
};

}  // namespace muster::authoring
