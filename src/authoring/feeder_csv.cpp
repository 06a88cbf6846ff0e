// CSV by RFC 4180: fields in quotes may hold delimiters, line breaks and doubled quotes. Lines end with LF or CRLF.
// Fields are views into the text; quoted ones are unescaped in place, which only ever makes them shorter.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "authoring/feeder.h"
#include "authoring/options.h"
#include "base/utf8.h"

namespace muster::authoring {

class CsvReader {
 public:
  CsvReader(std::string& text, std::string_view what, char delimiter)
      : text_(text), what_(what), delimiter_(delimiter), at_(text.starts_with("\xEF\xBB\xBF") ? 3 : 0) {}

  base::Expected<void> read(Feeder& feeder) {
    if (auto header = read_header(feeder.columns_); !header) return header;
    const std::size_t columns = feeder.columns_.size();
    while (skip_blank_lines()) {
      const std::size_t first_line = line_;
      const std::size_t before = feeder.cells_.size();
      if (before / columns >= kFeederLimits.rows || before + columns > kFeederLimits.cells) {
        return wrong(first_line, fmt::format("too much data; at most {} rows and {} cells are allowed, split the file",
                                             kFeederLimits.rows, kFeederLimits.cells));
      }
      bool more = true;
      while (more) {
        auto field = next_field(more);
        if (!field) return std::unexpected(std::move(field.error()));
        if (feeder.cells_.size() < before + columns) feeder.cells_.push_back(model::Value::of(*field));
        ++fields_;
      }
      if (fields_ != columns) {
        return wrong(first_line,
                     fmt::format("expected {} fields as in the header, found {}; quote fields that hold the "
                                 "delimiter or a line break",
                                 columns, fields_));
      }
      fields_ = 0;
    }
    if (feeder.cells_.empty()) return wrong(line_, "there is a header but no row of data below it");
    return {};
  }

 private:
  base::Expected<void> read_header(std::vector<std::string>& columns) {
    if (!skip_blank_lines()) return wrong(1, "expected a header line with the names of the columns, found nothing");
    const std::size_t line = line_;
    bool more = true;
    while (more) {
      auto field = next_field(more);
      if (!field) return std::unexpected(std::move(field.error()));
      const auto name = trimmed(*field);
      if (name.empty()) {
        return wrong(line,
                     fmt::format("column {} of the header has no name; every column needs one", columns.size() + 1));
      }
      columns.emplace_back(name);
      if (columns.size() > kFeederLimits.columns) {
        return wrong(line, fmt::format("more than {} columns; is the delimiter right?", kFeederLimits.columns));
      }
    }
    std::vector<std::string_view> sorted(columns.begin(), columns.end());
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
      return wrong(line, fmt::format("column '{}' is there twice; rename one of them", *twice));
    }
    return {};
  }

  static std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
  }

  std::unexpected<base::Error> wrong(std::size_t line, std::string_view message) const {
    return base::fail(fmt::format("{}:{}: {}", what_, line, message));
  }

  // False at the end of the text.
  bool skip_blank_lines() {
    while (at_ < text_.size()) {
      if (text_[at_] == '\n') {
        ++at_;
        ++line_;
      } else if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
        ++at_;
      } else {
        return true;
      }
    }
    return false;
  }

  // `more` tells whether another field follows on the same row.
  base::Expected<std::string_view> next_field(bool& more) {
    if (at_ < text_.size() && text_[at_] == '"') return quoted_field(more);
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] != delimiter_ && text_[at_] != '\n') {
      if (text_[at_] == '"')
        return wrong(
            line_,
            "a quote inside a field that does not start with one; quote the whole field and double the quotes in it");
      ++at_;
    }
    std::string_view field(text_.data() + start, at_ - start);
    if (field.ends_with('\r') && (at_ == text_.size() || text_[at_] == '\n')) field.remove_suffix(1);
    more = end_field();
    return field;
  }

  base::Expected<std::string_view> quoted_field(bool& more) {
    const std::size_t first_line = line_;
    const std::size_t start = ++at_;
    std::size_t out = start;
    while (true) {
      if (at_ == text_.size()) return wrong(first_line, "a quoted field that starts here is not closed; add a quote");
      const char c = text_[at_++];
      if (c == '\n') ++line_;
      if (c == '"') {
        if (at_ == text_.size() || text_[at_] != '"') break;
        ++at_;
      }
      text_[out++] = c;
    }
    if (at_ < text_.size() && text_[at_] == '\r' && (at_ + 1 == text_.size() || text_[at_ + 1] == '\n')) ++at_;
    if (at_ < text_.size() && text_[at_] != delimiter_ && text_[at_] != '\n') {
      return wrong(line_, "text after the closing quote of a field; double the quotes inside a quoted field");
    }
    more = end_field();
    return std::string_view(text_.data() + start, out - start);
  }

  // Steps over what ended the field; true where it was a delimiter.
  bool end_field() {
    if (at_ == text_.size()) return false;
    const bool delimiter = text_[at_++] == delimiter_;
    if (!delimiter) ++line_;
    return delimiter;
  }

  std::string& text_;
  std::string_view what_;
  char delimiter_;
  std::size_t at_;
  std::size_t line_ = 1;
  std::size_t fields_ = 0;
};

namespace {

// The line of the first byte that is not UTF-8.
std::size_t bad_line(std::string_view text) {
  return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, base::first_not_utf8(text)), '\n'));
}

}  // namespace

base::Expected<Feeder> Feeder::from_owned_csv(std::unique_ptr<std::string> text, std::string_view what,
                                              char delimiter) {
  if (text->size() > kFeederLimits.file_bytes) {
    return base::fail(fmt::format("{}: larger than {} bytes; split it", what, kFeederLimits.file_bytes));
  }
  if (delimiter == '"' || delimiter == '\n' || delimiter == '\r' || delimiter == '\0') {
    return base::fail(fmt::format("{}: a quote, a line break or a zero byte cannot be the delimiter", what));
  }
  if (!simdjson::validate_utf8(*text)) {
    return base::fail(fmt::format("{}:{}: this is not UTF-8 text; save the file as UTF-8", what, bad_line(*text)));
  }
  Feeder feeder;
  const auto& kept = feeder.text_.emplace_back(std::move(text));
  if (auto done = CsvReader(*kept, what, delimiter).read(feeder); !done)
    return std::unexpected(std::move(done.error()));
  return feeder;
}

}  // namespace muster::authoring
