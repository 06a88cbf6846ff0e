// Rows from JSON: an array of objects, or one object a line. Columns are all keys in the order in which they first
// appear; a row without a key has no value there.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "authoring/feeder.h"
#include "authoring/json_write.h"
#include "authoring/options.h"

namespace muster::authoring {

namespace dom = simdjson::dom;
using model::Value;

class JsonRows {
 public:
  JsonRows(Feeder& feeder, std::string_view what) : feeder_(feeder), what_(what) {}

  base::Expected<void> read(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return base::fail(fmt::format("{}: the file is empty; {}", what_, kWanted));
    auto done = text[first] == '[' ? read_array(text) : read_lines(text);
    if (!done) return done;
    if (rows_.size() == 1) return base::fail(fmt::format("{}: there is no object in it; {}", what_, kWanted));
    return lay_out();
  }

 private:
  static constexpr std::string_view kWanted = "expected an array of objects, or one object a line";

  struct Entry {
    std::uint32_t column;
    Value value;
  };

  base::Expected<void> read_array(std::string_view text) {
    dom::element root;
    if (const auto error = parse(text, root)) return not_json(text, 1, error);
    std::size_t number = 0;
    for (const dom::element element : root.get_array()) {
      if (auto row = add_row(element, fmt::format("element {}", ++number)); !row) return row;
    }
    return {};
  }

  base::Expected<void> read_lines(std::string_view text) {
    std::size_t number = 0;
    while (!text.empty()) {
      ++number;
      const std::size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      if (line.size() > kFeederLimits.line_bytes) return fail(fmt::format("line {}", number), "the line is too long");
      dom::element root;
      if (const auto error = parse(line, root)) {
        return not_json(line, number, error);
      }
      if (auto row = add_row(root, fmt::format("line {}", number)); !row) return row;
    }
    return {};
  }

  simdjson::error_code parse(std::string_view text, dom::element& root) {
    // The parser copies what it is given into a padded buffer of its own, which it keeps.
    if (parser_.capacity() < text.size()) {
      const auto error =
          parser_.allocate(std::max<std::size_t>(text.size() + text.size() / 2, 4096), kJsonLimits.depth);
      if (error != simdjson::SUCCESS) return error;
    }
    return parser_.parse(text.data(), text.size()).get(root);
  }

  base::Expected<void> add_row(const dom::element& element, const std::string& place) {
    dom::object object;
    if (element.get(object) != simdjson::SUCCESS) return fail(place, fmt::format("this is no object; {}", kWanted));
    if (rows_.size() > kFeederLimits.rows)
      return fail(place, fmt::format("more than {} rows; split the file", kFeederLimits.rows));
    for (const auto& [key, value] : object) {
      const auto column = column_of(key, place);
      if (!column) return std::unexpected(std::move(column.error()));
      if (seen_[*column] == rows_.size()) return fail(place, fmt::format("key '{}' is there twice", key));
      seen_[*column] = rows_.size();
      entries_.push_back({*column, keep(value)});
    }
    rows_.push_back(entries_.size());
    return {};
  }

  base::Expected<std::uint32_t> column_of(std::string_view key, const std::string& place) {
    if (key.empty()) return fail(place, "a key is empty; every column needs a name");
    const auto found = columns_.find(std::string(key));
    if (found != columns_.end()) return found->second;
    if (feeder_.columns_.size() == kFeederLimits.columns) {
      return fail(place, fmt::format("more than {} different keys", kFeederLimits.columns));
    }
    const auto column = static_cast<std::uint32_t>(feeder_.columns_.size());
    columns_.emplace(key, column);
    feeder_.columns_.emplace_back(key);
    seen_.push_back(0);
    return column;
  }

  Value keep(const dom::element& element) {
    switch (element.type()) {
      case dom::element_type::STRING:
        return Value::of(keep_text(element.get_string().value_unsafe()));
      case dom::element_type::ARRAY:
      case dom::element_type::OBJECT:
        scratch_.clear();
        append_element(scratch_, element);
        return Value::json(keep_text(scratch_));
      default:
        return scalar_value(element);
    }
  }

  // Texts lie in large strings that never grow beyond what they reserved, so that views into them stay valid.
  std::string_view keep_text(std::string_view text) {
    constexpr std::size_t kChunk = 256u << 10;
    auto& chunks = feeder_.text_;
    if (chunks.empty() || chunks.back()->capacity() - chunks.back()->size() < text.size()) {
      chunks.push_back(std::make_unique<std::string>());
      chunks.back()->reserve(std::max(kChunk, text.size()));
    }
    std::string& chunk = *chunks.back();
    chunk.append(text);
    return std::string_view(chunk).substr(chunk.size() - text.size());
  }

  base::Expected<void> lay_out() {
    const std::size_t columns = feeder_.columns_.size();
    const std::size_t rows = rows_.size() - 1;
    if (columns == 0) return base::fail(fmt::format("{}: its objects have no keys", what_));
    if (rows > kFeederLimits.cells / columns) {
      return base::fail(fmt::format("{}: {} rows of {} columns are more than {} cells; split the file", what_, rows,
                                    columns, kFeederLimits.cells));
    }
    feeder_.cells_.resize(rows * columns);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t at = rows_[row]; at < rows_[row + 1]; ++at) {
        feeder_.cells_[row * columns + entries_[at].column] = entries_[at].value;
      }
    }
    return {};
  }

  // Parsed once more by a slower parser that tells where it had to stop.
  std::unexpected<base::Error> not_json(std::string_view text, std::size_t first_line,
                                        simdjson::error_code code) const {
    std::size_t line = first_line;
    std::string why;
    try {
      static_cast<void>(nlohmann::json::parse(text, [](int, auto, auto&) { return false; }));
      return fail(fmt::format("line {}", line), simdjson::error_message(code));
    } catch (const nlohmann::json::parse_error& error) {
      const std::string_view before = text.substr(0, error.byte == 0 ? 0 : error.byte - 1);
      line += static_cast<std::size_t>(std::ranges::count(before, '\n'));
      const std::string_view said = error.what();
      const std::size_t dash = said.find(" - ");
      if (dash != std::string_view::npos) why = said.substr(dash + 3);
    } catch (const nlohmann::json::exception&) {
      why.clear();
    }
    const bool csv = what_.ends_with(".csv");
    return base::fail(fmt::format("{}:{}: this is not JSON{}{}{}", what_, line, why.empty() ? "" : ": ", why,
                                  csv ? "; is it CSV? then write `csv:`" : ""));
  }

  std::unexpected<base::Error> fail(std::string_view place, std::string_view why) const {
    return base::fail(fmt::format("{}: {}{}{}", what_, place, place.empty() ? "" : ": ", why));
  }

  Feeder& feeder_;
  std::string_view what_;
  dom::parser parser_;
  std::unordered_map<std::string, std::uint32_t> columns_;
  std::vector<std::size_t> seen_;     // for each column, the size of rows_ when it was last filled
  std::vector<Entry> entries_;        // of all rows, one after the other
  std::vector<std::size_t> rows_{0};  // where each row's entries start, and where the last one's end
  std::string scratch_;
};

base::Expected<Feeder> Feeder::from_json(std::string_view text, std::string_view what) {
  if (text.size() > kFeederLimits.file_bytes) {
    return base::fail(fmt::format("{}: larger than {} bytes; split it", what, kFeederLimits.file_bytes));
  }
  Feeder feeder;
  if (auto done = JsonRows(feeder, what).read(text); !done) return std::unexpected(std::move(done.error()));
  return feeder;
}

}  // namespace muster::authoring
