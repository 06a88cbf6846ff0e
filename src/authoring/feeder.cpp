#include "authoring/feeder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "authoring/options.h"
#include "base/units.h"

namespace muster::authoring {
namespace {

using model::Value;

base::Expected<std::unique_ptr<std::string>> read_file(const std::string& path) {
  const auto wrong = [&path](std::string_view why) {
    return base::fail(fmt::format("cannot read the data file '{}': {}", path, why));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return wrong(std::strerror(errno));
  auto text = std::make_unique<std::string>();
  constexpr std::size_t kChunk = 1u << 20;
  while (true) {
    const std::size_t before = text->size();
    text->resize(before + kChunk);
    const std::size_t count = std::fread(text->data() + before, 1, kChunk, file.get());
    text->resize(before + count);
    if (text->size() > kFeederLimits.file_bytes) {
      return wrong(fmt::format("it is larger than {}; split it", base::format_size(kFeederLimits.file_bytes)));
    }
    if (count < kChunk) break;
  }
  if (std::ferror(file.get()) != 0) return wrong(std::strerror(errno));
  text->shrink_to_fit();
  return text;
}

}  // namespace

base::Expected<Feeder> Feeder::load(const model::DataSource& source) {
  auto text = read_file(source.path);
  if (!text) return std::unexpected(std::move(text.error()));
  if (source.format == "json") return from_json(**text, source.path);
  if (source.format != "csv") {
    return base::fail(fmt::format("data '{}': format '{}' is not known; use csv or json", source.name, source.format));
  }
  const std::string delimiter = source.delimiter == "\\t" ? "\t" : source.delimiter;
  if (delimiter.size() != 1) {
    return base::fail(
        fmt::format("data '{}': the delimiter must be one character, found '{}'", source.name, delimiter));
  }
  return from_owned_csv(std::move(*text), source.path, delimiter.front());
}

base::Expected<Feeder> Feeder::from_csv(std::string_view text, std::string_view what, char delimiter) {
  return from_owned_csv(std::make_unique<std::string>(text), what, delimiter);
}

Feeder Feeder::from_values(std::string column, std::span<const Value> values) {
  Feeder feeder;
  feeder.columns_.push_back(std::move(column));
  feeder.cells_.reserve(values.size());
  for (const Value& value : values) {
    const bool json = value.type() == model::ValueType::kJson;
    if (!json && value.type() != model::ValueType::kText) {
      feeder.cells_.push_back(value);
      continue;
    }
    const std::string& kept = *feeder.text_.emplace_back(std::make_unique<std::string>(value.text()));
    feeder.cells_.push_back(json ? Value::json(kept) : Value::of(std::string_view(kept)));
  }
  return feeder;
}

std::optional<std::size_t> Feeder::column(std::string_view name) const {
  const auto found = std::ranges::find(columns_, name);
  if (found == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns_.begin());
}

FeederCursor::FeederCursor(std::size_t rows, model::Pick pick, std::uint32_t core, std::uint32_t cores,
                           std::atomic<std::uint64_t>* unique)
    : rows_(rows), pick_(pick), next_(core), step_(std::max(cores, 1u)), unique_(unique) {}

std::optional<std::size_t> FeederCursor::next(std::uint64_t vu, base::Random& random) {
  if (rows_ == 0) return std::nullopt;
  switch (pick_) {
    case model::Pick::kPerVu:
      return vu % rows_;
    case model::Pick::kRandom:
      return random.below(rows_);
    case model::Pick::kSequential: {
      const std::size_t row = next_ % rows_;
      next_ = row + step_;
      return row;
    }
    case model::Pick::kUnique:
      break;
  }
  if (unique_ != nullptr) {
    const std::uint64_t row = unique_->fetch_add(1, std::memory_order_relaxed);
    return row < rows_ ? std::optional<std::size_t>(row) : std::nullopt;
  }
  if (next_ >= rows_) return std::nullopt;
  const std::size_t row = next_;
  next_ += step_;
  return row;
}

}  // namespace muster::authoring
