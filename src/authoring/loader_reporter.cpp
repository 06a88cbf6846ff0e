#include "authoring/loader_reporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/escapes.h"
#include "base/listed.h"
#include "base/utf8.h"

namespace muster::authoring {
namespace {

bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u;
}

// Byte offset of the code point number `column` (from 1) of `line`; the line's size if it ends before.
std::size_t byte_of(std::string_view line, std::size_t column) {
  std::size_t at = 0;
  for (std::size_t seen = 1; at < line.size() && seen < column; ++seen) {
    ++at;
    while (at < line.size() && continues(line[at])) ++at;
  }
  return at;
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char byte) { return !continues(byte); }));
}

// Control characters would move the caret away from its place, or the terminal's cursor.
std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t length = base::utf8_length(text);
    if (length == 0) {
      shown += "\uFFFD";
    } else if (base::is_control(base::code_point(text.substr(0, length)))) {
      shown += length == 1 ? " " : "\uFFFD";
    } else {
      shown += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return shown;
}

}  // namespace

std::string to_text(const Problem& problem) {
  std::string text;
  if (problem.where.file != nullptr) {
    text = base::one_line(*problem.where.file);
    if (problem.where.line > 0) text += fmt::format(":{}:{}", problem.where.line, problem.where.column);
    text += ": ";
  }
  text += problem.message;
  if (!problem.excerpt.empty()) text += "\n" + problem.excerpt;
  return text;
}

std::shared_ptr<const std::string> Reporter::add_source(const std::string& name, std::string text) {
  auto shared = std::make_shared<const std::string>(name);
  sources_.push_back(std::make_unique<Source>(Source{shared, std::move(text)}));
  return shared;
}

void Reporter::add_secret(std::string value) {
  if (!value.empty()) secrets_.push_back(std::move(value));
}

void Reporter::report(const model::Where& where, std::string message) {
  if (full()) return;
  problems_.push_back({where, printable(message), {}});
}

void Reporter::report_inside(const model::Text& text, std::size_t offset, std::string message) {
  if (full()) return;
  model::Where where = text.where;
  const std::string_view whole = line(where);
  std::size_t at = byte_of(whole, where.column);
  if (at < whole.size() && (whole[at] == '"' || whole[at] == '\'')) ++at;
  const std::string_view before = std::string_view(text.text).substr(0, offset);
  if (whole.substr(at).starts_with(before)) {
    where.column = static_cast<std::uint32_t>(code_points(whole.substr(0, at + before.size())) + 1);
  }
  report(where, std::move(message));
}

Problems Reporter::take() {
  // What was found first comes first among problems of one place.
  std::vector<std::tuple<std::size_t, std::uint32_t, std::uint32_t, std::size_t>> sorted;
  for (std::size_t i = 0; i < problems_.size(); ++i) {
    const model::Where& where = problems_[i].where;
    sorted.emplace_back(order(where), where.line, where.column, i);
  }
  std::ranges::sort(sorted);
  Problems taken;
  for (const auto& [file, line_number, column, index] : sorted) {
    if (taken.list.size() == limits_.problems) break;
    Problem& problem = problems_[index];
    const bool said = std::ranges::any_of(taken.list, [&](const Problem& each) {
      return each.message == problem.message && each.where.file == problem.where.file &&
             each.where.line == problem.where.line && each.where.column == problem.where.column;
    });
    if (!said) taken.list.push_back(std::move(problem));
  }
  for (Problem& problem : taken.list) {
    problem.excerpt = redact(excerpt(problem.where));
    problem.message = redact(std::move(problem.message));
    // What `--set` was given stands in place of a file.
    if (problem.where.file == nullptr) continue;
    std::string place = redact(*problem.where.file);
    if (place != *problem.where.file) problem.where.file = std::make_shared<const std::string>(std::move(place));
  }
  problems_.clear();
  return taken;
}

std::size_t Reporter::order(const model::Where& where) const {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i]->name == where.file) return i;
  }
  return sources_.size();
}

std::string_view Reporter::line(const model::Where& where) const {
  const std::size_t index = order(where);
  if (index == sources_.size() || where.line == 0) return {};
  std::string_view rest = sources_[index]->text;
  for (std::uint32_t number = 1; number < where.line; ++number) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) return {};
    rest.remove_prefix(end + 1);
  }
  rest = rest.substr(0, rest.find('\n'));
  if (rest.ends_with('\r')) rest.remove_suffix(1);
  return rest;
}

std::string Reporter::excerpt(const model::Where& where) const {
  std::string_view whole = line(where);
  if (whole.empty()) return {};
  std::size_t column = where.column;
  std::string_view shown = whole;
  if (code_points(whole) > limits_.excerpt_columns) {
    const std::size_t context = limits_.excerpt_columns / 2;
    const std::size_t first = column > context ? column - context : 1;
    const std::size_t begin = byte_of(whole, first);
    shown = whole.substr(begin, byte_of(whole, first + limits_.excerpt_columns) - begin);
    column = column - first + 1;
  }
  const std::string number = fmt::format("{}", where.line);
  const std::string_view trimmed = shown.substr(0, shown.find_last_not_of(" \t") + 1);
  return fmt::format("  {} | {}\n  {:{}} | {:{}}^", number, printable(trimmed), "", number.size(), "",
                     column == 0 ? 0 : column - 1);
}

std::string Reporter::redact(std::string text) const {
  for (const std::string& secret : secrets_) {
    for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at)) {
      text.replace(at, secret.size(), "***");
      at += 3;
    }
  }
  return text;
}

std::string quoted_list(const std::vector<std::string_view>& names, std::string_view conjunction) {
  return base::listed_quoted(names, conjunction);
}

}  // namespace muster::authoring
