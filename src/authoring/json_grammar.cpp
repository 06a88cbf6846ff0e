#include "authoring/json_grammar.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/characters.h"
#include "base/utf8.h"

namespace muster::authoring {
namespace {

bool hex_digit(char c) {
  return base::is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

std::size_t digits_end(std::string_view text, std::size_t at) {
  while (at < text.size() && base::is_digit(text[at])) ++at;
  return at;
}

class Grammar {
 public:
  Grammar(std::string_view text, std::size_t depth) : text_(text), depth_(depth) {}

  // False: expected() should stand at at(), or too_deep().
  bool check() {
    if (!value()) return false;
    while (!open_.empty()) {
      skip_space();
      const char close = open_.back() == '{' ? '}' : ']';
      if (next() == close) {
        ++at_;
        open_.pop_back();
        continue;
      }
      if (next() != ',') return expect(close == '}' ? "',' or '}'" : "',' or ']'");
      ++at_;
      if (close == '}' && !key()) return false;
      if (!value()) return false;
    }
    skip_space();
    return at_ == text_.size() || expect("the end");
  }

  std::size_t at() const { return at_; }
  std::string_view expected() const { return expected_; }
  bool too_deep() const { return too_deep_; }  // what stands there may be right

 private:
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").contains(text_[at_])) ++at_;
  }

  bool expect(std::string_view what) {
    expected_ = what;
    return false;
  }

  // A whole value, or the beginning of an array or object up to the end of its first scalar.
  bool value() {
    for (;;) {
      skip_space();
      const char first = next();
      if (first != '{' && first != '[') return scalar(first);
      ++at_;
      skip_space();
      if (next() == (first == '{' ? '}' : ']')) {
        ++at_;
        return true;
      }
      too_deep_ = open_.size() + 1 >= depth_;
      if (too_deep_) return false;
      open_.push_back(first);
      if (first == '{' && !key()) return false;
    }
  }

  bool key() {
    skip_space();
    if (next() != '"') return expect("a name in quotes");
    if (!string()) return false;
    skip_space();
    if (next() != ':') return expect("':'");
    ++at_;
    return true;
  }

  bool scalar(char first) {
    if (first == '"') return string();
    for (const std::string_view word : {"true", "false", "null"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return true;
    }
    const std::size_t length = json_number_length(text_.substr(at_));
    at_ += length;
    return length > 0 || expect("a value");
  }

  bool string() {
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) return expect("an escape in place of a control character");
      if (c == '\\' && !escape()) return expect("an escape such as \\n or \\u00e9");
    }
    return expect("the end of a string");
  }

  // Goes on to its last character.
  bool escape() {
    ++at_;
    if (next() == 'u') {
      const std::string_view code = text_.substr(at_ + 1, 4);
      if (code.size() < 4 || !std::ranges::all_of(code, hex_digit)) return false;
      at_ += 4;
      return true;
    }
    return at_ < text_.size() && std::string_view("\"\\/bfnrt").contains(text_[at_]);
  }

  std::string_view text_;
  std::size_t depth_;
  std::size_t at_ = 0;
  std::string open_;  // brackets, the innermost last
  std::string_view expected_;
  bool too_deep_ = false;
};

std::string found_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) return "it ends there";
  const auto byte = static_cast<unsigned char>(text[at]);
  return byte > 0x20 && byte < 0x7f ? fmt::format("there is '{}'", text[at]) : fmt::format("there is 0x{:02x}", byte);
}

}  // namespace

std::size_t json_number_length(std::string_view text) {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const std::size_t whole = digits_end(text, at);
  if (whole == at) return 0;
  at = text[at] == '0' ? at + 1 : whole;
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction = digits_end(text, at + 1);
    if (fraction == at + 1) return 0;
    at = fraction;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const bool sign = at + 1 < text.size() && (text[at + 1] == '+' || text[at + 1] == '-');
    const std::size_t from = at + (sign ? 2 : 1);
    const std::size_t exponent = digits_end(text, from);
    if (exponent == from) return 0;
    at = exponent;
  }
  return at;
}

std::optional<std::string> json_fault(std::string_view text, std::size_t depth) {
  if (text.empty()) return "it is empty";
  Grammar grammar(text, depth);
  if (!grammar.check()) {
    if (grammar.too_deep())
      return fmt::format(
          "its values stand within more than {} others from byte {} on, which is deeper than muster reads", depth - 2,
          grammar.at() + 1);
    return fmt::format("{} was expected at byte {}, but {}", grammar.expected(), grammar.at() + 1,
                       found_at(text, grammar.at()));
  }
  if (const std::size_t at = base::first_not_utf8(text); at != std::string_view::npos) {
    return fmt::format("it is not UTF-8 at byte {}", at + 1);
  }
  return std::nullopt;
}

}  // namespace muster::authoring
