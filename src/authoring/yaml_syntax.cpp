#include "authoring/yaml_syntax.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/characters.h"

namespace muster::authoring {
namespace {

constexpr auto kNone = std::string_view::npos;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == kNone) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::size_t indentation(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

// A line of the form `key: value` or `- key: value`.
struct KeyLine {
  std::string_view key;
  std::size_t key_column = 0;
  std::size_t value_column = 0;
  std::string_view value;  // trimmed
};

std::optional<KeyLine> key_line(std::string_view line) {
  KeyLine made;
  made.key_column = indentation(line);
  while (line.substr(made.key_column).starts_with("- ")) {
    made.key_column += 2;
    made.key_column += indentation(line.substr(made.key_column));
  }
  const std::size_t colon = line.find(": ", made.key_column);
  if (colon == kNone) return std::nullopt;
  made.key = line.substr(made.key_column, colon - made.key_column);
  made.value_column = colon + 1 + indentation(line.substr(colon + 1));
  made.value = trimmed(line.substr(made.value_column));
  return made;
}

bool word(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return base::is_letter_or_digit(c) || c == '_' || c == '-'; });
}

struct Opening {
  char bracket = 0;
  std::size_t line = 0;
  std::size_t column = 0;
};

// Follows brackets and quotes where they begin a value; knows enough of YAML to tell them from text.
class BracketScan {
 public:
  explicit BracketScan(const std::vector<std::string_view>& lines) : lines_(lines) {}

  // The brackets that are open before the end of line `last`.
  std::vector<Opening> open_at(std::size_t last) {
    for (std::size_t number = 0; number <= last && number < lines_.size(); ++number) line(number);
    return std::move(open_);
  }

 private:
  void line(std::size_t number) {
    const std::string_view text = lines_[number];
    if (block_ && (trimmed(text).empty() || indentation(text) > *block_)) return;
    block_.reset();
    bool begins = quote_ == 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const char c = text[at];
      if (quote_ != 0) {
        if (c == '\\' && quote_ == '"') ++at;
        if (c == quote_) quote_ = 0;
        continue;
      }
      if (c == '#' && (at == 0 || text[at - 1] == ' ')) return;
      if (c == ' ') continue;
      if (begins && (c == '"' || c == '\'')) quote_ = c;
      if (begins && (c == '{' || c == '[')) open_.push_back({c, number, at});
      if (begins && open_.empty() && (c == '|' || c == '>')) block_ = indentation(text);
      if (!open_.empty() && (c == '}' || c == ']')) open_.pop_back();
      const bool spaced = at + 1 == text.size() || text[at + 1] == ' ';
      const bool dash = c == '-' && spaced && begins;
      const bool inside = !open_.empty() && (c == ',' || c == '{' || c == '[');
      begins = (begins && (c == '{' || c == '[')) || inside || dash || (c == ':' && spaced);
    }
  }

  const std::vector<std::string_view>& lines_;
  std::vector<Opening> open_;
  std::optional<std::size_t> block_;  // indentation of the line whose block scalar goes on
  char quote_ = 0;
};

class Explainer {
 public:
  Explainer(std::string_view text, SyntaxProblem found) : found_(std::move(found)) {
    while (true) {
      const std::size_t end = text.find('\n');
      std::string_view each = text.substr(0, end);
      if (each.ends_with('\r')) each.remove_suffix(1);
      lines_.push_back(each);
      if (end == kNone) break;
      text.remove_prefix(end + 1);
    }
    found_.line = std::min(found_.line, lines_.size() - 1);
  }

  SyntaxProblem explain() {
    for (auto each :
         {&Explainer::comment, &Explainer::hole, &Explainer::question, &Explainer::condition, &Explainer::escape,
          &Explainer::anchor, &Explainer::missing_space, &Explainer::indented_deeper, &Explainer::bracket}) {
      if ((this->*each)()) return std::move(found_);
    }
    found_.message = plain_words();
    return std::move(found_);
  }

 private:
  std::string_view line() const { return lines_[found_.line]; }
  bool says(std::string_view words) const { return found_.message.find(words) != std::string::npos; }

  bool tell(std::size_t line, std::size_t column, std::string message) {
    found_ = {line, column, std::move(message)};
    return true;
  }

  bool comment() {
    for (std::size_t number = found_.line + 1; number-- > 0 && number + 2 > found_.line;) {
      if (!trimmed(lines_[number]).starts_with("//")) continue;
      return tell(number, indentation(lines_[number]), "comments begin with '#' in YAML, not with '//'");
    }
    return false;
  }

  bool hole() {
    const std::size_t at = line().find("${");
    if (at == kNone || (!says("flow not found") && !says("illegal"))) return false;
    const auto begin = begin_of_value(at);
    if (!begin) return false;
    const std::size_t close = line().find('}', at);
    return tell(found_.line, *begin,
                fmt::format("inside {{ }} and [ ] a text with ${{…}} needs quotes: \"{}\"",
                            line().substr(*begin, close == kNone ? close : close - *begin + 1)));
  }

  // `{ get: /a?x=1 }`: a question mark means something in a flow.
  bool question() {
    if (!says("unknown token")) return false;
    const std::size_t at = line().find('?', std::min(found_.column, line().size()));
    const auto begin = at == kNone ? std::nullopt : begin_of_value(at);
    if (!begin) return false;
    return tell(
        found_.line, *begin,
        fmt::format("inside {{ }} and [ ] a text with '?' needs quotes: \"{}\"", written_value(line().substr(*begin))));
  }

  // Where the plain text that has its byte `at` in this line begins, if it stands in a flow.
  std::optional<std::size_t> begin_of_value(std::size_t at) const {
    const std::string_view before = line().substr(0, at);
    std::size_t mark = before.find_last_of("{[,");
    if (const std::size_t colon = before.rfind(": "); colon != kNone && (mark == kNone || colon > mark)) mark = colon;
    if (before.ends_with(':')) mark = before.size() - 1;
    if (mark == kNone) return std::nullopt;
    const std::size_t begin = std::min(before.find_first_not_of(' ', mark + 1), at);
    if (before.substr(begin).find_first_of("\"'") != kNone) return std::nullopt;
    return begin;
  }

  bool condition() {
    const auto here = key_line(line());
    if (!here || here->value.empty()) return false;
    std::size_t at = here->value_column;
    const char first = here->value.front();
    const bool block = says("block scalar") && (first == '>' || first == '|');
    if (!block) {
      at = std::min(found_.column, line().size());
      if (at == line().size() || std::string_view("%@`").find(line()[at]) == kNone) return false;
    }
    const std::string_view value = written_value(line().substr(at));
    return tell(found_.line, at,
                fmt::format("put quotes around a {} that begins with '{}': \"{}\"", block ? "condition" : "text",
                            line()[at], value));
  }

  bool escape() {
    if (!says("unknown escape")) return false;
    const std::size_t at = line().substr(0, found_.column).rfind('\\');
    if (at == kNone || at + 1 >= line().size()) return false;
    return tell(
        found_.line, at,
        fmt::format("'\\{0}' means nothing in a text in double quotes; write '\\\\{0}', or put the text in single "
                    "quotes",
                    line()[at + 1]));
  }

  bool anchor() {
    if (!says("anchor is not defined")) return false;
    const std::string_view value = written_value(line().substr(std::min(found_.column, line().size())));
    if (value.size() < 2 || word(value.substr(1))) {
      found_.message = fmt::format("no value above is marked '&{}', which this '{}' stands for",
                                   value.substr(std::min<std::size_t>(1, value.size())), value);
      return true;
    }
    found_.message = fmt::format("put quotes around a text that begins with '*': \"{}\"", value);
    return true;
  }

  // `target:http://…`: the line is taken for text, and the next one for its end.
  bool missing_space() {
    if (!says("illegal map value") && !says("end of map")) return false;
    for (std::size_t number = found_.line + 1; number-- > 0 && number + 3 > found_.line;) {
      const std::string_view each = lines_[number];
      std::size_t from = indentation(each);
      if (each.substr(from).starts_with("- ")) from += 2;
      const std::size_t colon = each.find(':', from);
      if (colon == kNone || colon + 1 >= each.size() || each[colon + 1] == ' ') continue;
      if (!word(each.substr(from, colon - from))) continue;
      return tell(number, colon + 1, fmt::format("a space is missing after '{}'", each.substr(from, colon - from + 1)));
    }
    return false;
  }

  bool indented_deeper() {
    if (!says("illegal map value") || found_.line == 0) return false;
    const auto above = key_line(lines_[found_.line - 1]);
    const std::size_t here = indentation(line());
    if (!above || above->value.empty() || here <= above->key_column || here >= line().size()) return false;
    return tell(found_.line, here,
                fmt::format("this line is indented deeper than '{0}' above, which already has a value; to stand beside "
                            "'{0}' it must begin in the same column",
                            above->key));
  }

  bool bracket() {
    if (!says("flow not found") && !says("illegal") && !says("end of map not found") &&
        !says("end of sequence not found")) {
      return false;
    }
    const std::size_t last = found_.line;
    const std::vector<Opening> open = BracketScan(lines_).open_at(last);
    for (const Opening& each : open) {
      if (each.line >= last && !says("flow not found")) continue;
      return tell(each.line, each.column, fmt::format("this '{}' is not closed", each.bracket));
    }
    return false;
  }

  std::string plain_words() const {
    if (says("end of map not found")) {
      return "the map does not go on as expected here; check the indentation and the colons above";
    }
    if (says("end of sequence not found")) {
      return "the list does not go on as expected here; check the indentation and the dashes above";
    }
    if (says("end of map flow not found")) return "a '{' above is not closed";
    if (says("end of sequence flow not found")) return "a '[' above is not closed";
    if (says("illegal map value")) {
      return "a colon where no key can stand; put quotes around a text that contains ': '";
    }
    if (says("illegal block entry")) return "a list item where none can stand";
    return "not valid YAML: " + found_.message;
  }

  SyntaxProblem found_;
  std::vector<std::string_view> lines_;
};

}  // namespace

SyntaxProblem explain_syntax(std::string_view text, SyntaxProblem found) {
  return Explainer(text, std::move(found)).explain();
}

std::string_view written_value(std::string_view from) {
  from = from.substr(0, from.find_first_of("\r\n"));
  from = from.substr(0, from.find(" #"));
  from = from.substr(0, from.find_first_of(",}]"));
  return trimmed(from);
}

}  // namespace muster::authoring
