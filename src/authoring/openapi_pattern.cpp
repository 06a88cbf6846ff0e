#include "authoring/openapi_pattern.h"

#include <algorithm>
#include <bitset>
#include <charconv>
#include <utility>

#include "base/characters.h"

namespace muster::authoring {
namespace {

using Characters = std::bitset<128>;  // of ASCII

constexpr std::size_t kDeepest = 32;         // groups in groups
constexpr std::size_t kLongestMatch = 1000;  // characters
constexpr std::size_t kMostSteps = 4096;     // atoms that are read or repeated

Characters between(char first, char last) {
  Characters set;
  for (int c = first; c <= last; ++c) set.set(static_cast<std::size_t>(c));
  return set;
}

std::optional<Characters> shorthand(char letter) {
  const Characters digits = between('0', '9');
  const Characters words = digits | between('a', 'z') | between('A', 'Z') | between('_', '_');
  const Characters blanks = between('\t', '\r') | between(' ', ' ');
  switch (letter) {
    case 'd':
      return digits;
    case 'D':
      return ~digits;
    case 'w':
      return words;
    case 'W':
      return ~words;
    case 's':
      return blanks;
    case 'S':
      return ~blanks;
    default:
      return std::nullopt;
  }
}

// What reads best of a set.
std::optional<char> chosen(const Characters& set) {
  for (const auto& [first, last] :
       {std::pair('a', 'z'), std::pair('A', 'Z'), std::pair('0', '9'), std::pair(' ', '~')}) {
    for (char c = first; c <= last; ++c) {
      if (set.test(static_cast<std::size_t>(c))) return c;
    }
  }
  return std::nullopt;
}

// Writes while it reads: each atom leaves its shortest text, repeated as its quantifier says. `extra` more repetitions
// are given to the first quantifiers that allow them.
class MatchWriter {
 public:
  MatchWriter(std::string_view pattern, std::size_t extra) : pattern_(pattern), extra_(extra) {}

  std::optional<std::string> run() {
    std::string out;
    if (!choices(out, 0) || at_ != pattern_.size()) return std::nullopt;
    return out;
  }

 private:
  struct Repeat {
    std::size_t least = 1;
    std::size_t most = 1;
  };

  bool ended() const { return at_ >= pattern_.size(); }
  char peek() const { return pattern_[at_]; }

  // The first of several is written, the others are only read.
  bool choices(std::string& out, std::size_t depth) {
    if (depth > kDeepest || !sequence(out, depth)) return false;
    while (!ended() && peek() == '|') {
      ++at_;
      const bool closed = closed_;
      const std::size_t extra = std::exchange(extra_, 0);
      std::string unused;
      closed_ = false;
      if (!sequence(unused, depth)) return false;
      closed_ = closed;
      extra_ = extra;
    }
    return true;
  }

  bool sequence(std::string& out, std::size_t depth) {
    bool first = depth == 0;
    while (!ended() && peek() != '|' && peek() != ')') {
      if (++steps_ > kMostSteps || out.size() > kLongestMatch) return false;
      const char c = peek();
      if (c == '^' || c == '$') {
        // Elsewhere they could match nothing.
        if (c == '^' && !first) return false;
        closed_ = closed_ || c == '$';
        ++at_;
        continue;
      }
      first = false;
      if (!atom(out, depth)) return false;
    }
    return true;
  }

  bool atom(std::string& out, std::size_t depth) {
    const std::size_t begin = at_;
    std::string text;
    if (closed_) return false;
    if (!one(text, depth)) return false;
    const auto repeat = quantifier();
    if (!repeat) return false;
    if (closed_ && (repeat->least != 1 || repeat->most != 1)) return false;
    const std::size_t more = text.empty() ? 0 : std::min(repeat->most - repeat->least, extra_);
    const std::size_t count = repeat->least + more;
    extra_ -= more;
    if (count * text.size() + out.size() > kLongestMatch) return false;
    for (std::size_t i = 0; i < count; ++i) out += text;
    return at_ > begin;
  }

  bool one(std::string& text, std::size_t depth) {
    const char c = pattern_[at_++];
    switch (c) {
      case '(':
        if (pattern_.substr(at_).starts_with("?:")) {
          at_ += 2;
        } else if (!ended() && peek() == '?') {
          return false;
        }
        if (!choices(text, depth + 1) || ended() || peek() != ')') return false;
        ++at_;
        return true;
      case '[':
        return character_class(text);
      case '\\':
        return put(escape(), text);
      case '.':
        text = "x";
        return true;
      case '*':
      case '+':
      case '?':
      case '{':
        return false;
      default:
        text = c;
        return static_cast<unsigned char>(c) < 128;
    }
  }

  static bool put(const std::optional<Characters>& set, std::string& text) {
    const auto found = set ? chosen(*set) : std::nullopt;
    if (found) text = *found;
    return found.has_value();
  }

  // After the backslash.
  std::optional<Characters> escape() {
    if (ended()) return std::nullopt;
    const char c = pattern_[at_++];
    if (auto set = shorthand(c)) return set;
    const bool letter = base::is_letter_or_digit(c);
    if (letter || static_cast<unsigned char>(c) >= 128) return std::nullopt;
    return between(c, c);
  }

  bool character_class(std::string& text) {
    Characters set;
    const bool negated = !ended() && peek() == '^';
    if (negated) ++at_;
    while (!ended() && peek() != ']') {
      const auto first = class_member();
      if (!first) return false;
      if (pattern_.substr(at_).starts_with('-') && at_ + 1 < pattern_.size() && pattern_[at_ + 1] != ']') {
        ++at_;
        const auto last = class_member();
        if (!last || first->count() != 1 || last->count() != 1) return false;
        const auto from = static_cast<char>(first->_Find_first());
        const auto to = static_cast<char>(last->_Find_first());
        if (from > to) return false;
        set |= between(from, to);
      } else {
        set |= *first;
      }
    }
    if (ended()) return false;
    ++at_;
    return put(negated ? ~set : set, text);
  }

  std::optional<Characters> class_member() {
    if (ended()) return std::nullopt;
    const char c = pattern_[at_++];
    if (c == '\\') return escape();
    if (static_cast<unsigned char>(c) >= 128) return std::nullopt;
    return between(c, c);
  }

  std::optional<Repeat> quantifier() {
    Repeat repeat;
    if (ended()) return repeat;
    const char c = peek();
    if (c == '*' || c == '+' || c == '?') {
      ++at_;
      repeat = {c == '+' ? 1u : 0u, c == '?' ? 1u : kLongestMatch};
    } else if (c == '{') {
      const std::size_t close = pattern_.find('}', at_);
      if (close == std::string_view::npos) return std::nullopt;
      const std::string_view inside = pattern_.substr(at_ + 1, close - at_ - 1);
      const std::size_t comma = std::min(inside.find(','), inside.size());
      if (!number(inside.substr(0, comma), repeat.least)) return std::nullopt;
      repeat.most = comma == inside.size() ? repeat.least : kLongestMatch;
      if (comma + 1 < inside.size() && !number(inside.substr(comma + 1), repeat.most)) return std::nullopt;
      at_ = close + 1;
    } else {
      return repeat;
    }
    if (!ended() && peek() == '?') ++at_;  // whether it is greedy makes no difference
    if (repeat.least > repeat.most || repeat.most > kLongestMatch) return std::nullopt;
    return repeat;
  }

  static bool number(std::string_view text, std::size_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  }

  std::string_view pattern_;
  std::size_t extra_;
  std::size_t at_ = 0;
  std::size_t steps_ = 0;
  bool closed_ = false;  // after `$`
};

}  // namespace

std::optional<std::string> matching_text(std::string_view pattern, std::size_t least, std::size_t most) {
  if (pattern.size() > kLongestMatch) return std::nullopt;
  auto text = MatchWriter(pattern, 0).run();
  // What is repeated may have several characters.
  const std::size_t missing = text && text->size() < least ? least - text->size() : 0;
  for (std::size_t unit = 1; missing > 0 && unit <= 8; ++unit) {
    text = MatchWriter(pattern, (missing + unit - 1) / unit).run();
    if (text && text->size() >= least && text->size() <= most) break;
  }
  if (!text || text->size() < least || text->size() > most) return std::nullopt;
  // One that reads like a word is nicer than an empty or a single character, where the pattern leaves the choice.
  if (text->empty() && most > 0) {
    if (auto longer = MatchWriter(pattern, 1).run(); longer && !longer->empty() && longer->size() <= most)
      return longer;
  }
  return text;
}

}  // namespace muster::authoring
