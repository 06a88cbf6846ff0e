#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/characters.h"
#include "protocol/credentials.h"
#include "report/source_mask_parts.h"

namespace muster::report {
namespace {

enum class Kind : std::uint8_t { kBlank, kComment, kText, kNumber, kName, kSign };

struct Token {
  Kind kind = Kind::kBlank;
  std::string_view written;  // as it stands in the source
  std::string_view content;  // of a text: what its quotes or brackets enclose
};

bool is_letter(char each) {
  return std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '_';
}

bool is_space(char each) {
  return std::isspace(static_cast<unsigned char>(each)) != 0;
}

// How long the opening of a long bracket at the front of `text` is: 2 for [[, 4 for [==[; 0 if there is none.
std::size_t long_opening(std::string_view text) {
  if (!text.starts_with('[')) return 0;
  const std::size_t end = std::min(text.find_first_not_of('=', 1), text.size());
  return end < text.size() && text[end] == '[' ? end + 1 : 0;
}

// Reads Lua as a compiler would, but takes whatever it is given: what does not end, ends with its line or with the
// text.
class Reader {
 public:
  explicit Reader(std::string_view source) : rest_(source) {}

  bool more() const { return !rest_.empty(); }

  Token next() {
    const char first = rest_.front();
    if (is_space(first)) return take(Kind::kBlank, length_of(is_space));
    if (rest_.starts_with("--")) return comment();
    if (const std::size_t opening = long_opening(rest_); opening > 0) return long_text(opening);
    if (first == '"' || first == '\'') return text(first);
    if (base::is_digit(first))
      return take(Kind::kNumber, length_of([](char each) { return is_letter(each) || each == '.'; }));
    if (is_letter(first)) return take(Kind::kName, length_of(is_letter));
    const bool pair = rest_.starts_with("==") || rest_.starts_with("~=") || rest_.starts_with("<=") ||
                      rest_.starts_with(">=") || rest_.starts_with("..");
    return take(Kind::kSign, pair ? 2 : 1);
  }

 private:
  Token take(Kind kind, std::size_t size) {
    const std::string_view written = rest_.substr(0, size);
    rest_.remove_prefix(written.size());
    return {.kind = kind, .written = written, .content = written};
  }

  template <class Belongs>
  std::size_t length_of(Belongs belongs) const {
    return static_cast<std::size_t>(std::find_if_not(rest_.begin(), rest_.end(), belongs) - rest_.begin());
  }

  // Where the long bracket that is opened at `from` by `opening` characters ends, and its content.
  std::pair<std::size_t, std::size_t> long_end(std::size_t from, std::size_t opening) const {
    std::string closing(rest_.substr(from, opening));
    std::ranges::replace(closing, '[', ']');
    const std::size_t end = rest_.find(closing, from + opening);
    return end == kNone ? std::pair{rest_.size(), rest_.size()} : std::pair{end, end + opening};
  }

  Token comment() {
    if (const std::size_t opening = long_opening(rest_.substr(2)); opening > 0)
      return take(Kind::kComment, long_end(2, opening).second);
    return take(Kind::kComment, std::min(rest_.find('\n'), rest_.size()));
  }

  Token long_text(std::size_t opening) {
    const auto [content_end, end] = long_end(0, opening);
    Token made = take(Kind::kText, end);
    made.content = made.written.substr(opening, content_end - opening);
    return made;
  }

  Token text(char quote) {
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != quote && rest_[end] != '\n') end += rest_[end] == '\\' ? 2 : 1;
    end = std::min(end, rest_.size());
    const bool closed = end < rest_.size() && rest_[end] == quote;
    Token made = take(Kind::kText, closed ? end + 1 : end);
    made.content = made.written.substr(1, end - 1);
    return made;
  }

  std::string_view rest_;
};

std::vector<Token> tokens_of(std::string_view source) {
  std::vector<Token> tokens;
  for (Reader reader(source); reader.more();) tokens.push_back(reader.next());
  return tokens;
}

class LuaMasking {
 public:
  explicit LuaMasking(std::string_view source) : tokens_(tokens_of(source)) {}

  std::string run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (token.kind == Kind::kBlank || token.kind == Kind::kComment) {
        made_.append(token.written);
        continue;
      }
      if (hiding_ && ends_value(token)) hiding_ = false;
      if (i == next_.begin) begin_hiding();
      put(token);
      nest(token);
      latest_ = {latest_[1], token.written};
      if (next_.begin == kNone && !(hiding_ && value_.sure)) look_for_value(i);
      after_operand_ = token.kind == Kind::kSign ? closes(token.written) : !goes_on(token.written);
    }
    return std::move(made_);
  }

 private:
  // Words between the parts of an expression.
  static bool goes_on(std::string_view word) { return word == "and" || word == "or" || word == "not"; }

  static bool is_statement_word(std::string_view word) {
    constexpr std::array<std::string_view, 15> kWords = {"break", "do",    "else",   "elseif", "end",
                                                         "for",   "goto",  "if",     "in",     "local",
                                                         "then",  "until", "repeat", "return", "while"};
    return std::ranges::find(kWords, word) != kWords.end();
  }

  static bool opens(std::string_view written) {
    constexpr std::array<std::string_view, 7> kOpening = {"(", "[", "{", "function", "if", "do", "repeat"};
    return std::ranges::find(kOpening, written) != kOpening.end();
  }
  static bool closes(std::string_view written) {
    constexpr std::array<std::string_view, 5> kClosing = {")", "]", "}", "end", "until"};
    return std::ranges::find(kClosing, written) != kClosing.end();
  }

  // Whether what stands here is a statement, or a part of a table, of arguments or of an index.
  bool in_statement() const {
    if (nested_.empty()) return true;
    const std::string_view inner = nested_.back();
    return inner != "(" && inner != "[" && inner != "{";
  }

  void nest(const Token& token) {
    if (token.kind == Kind::kText) return;
    if (opens(token.written)) nested_.push_back(token.written);
    const bool table = token.written == "{" && latest_[1] == "=" && names_expressions(latest_[0]);
    if (table) expressions_ = std::min(expressions_, nested_.size());
    if (closes(token.written) && !nested_.empty()) nested_.pop_back();
    if (nested_.size() < expressions_) expressions_ = kNone;
  }

  // `token` is no longer part of the expression that is being hidden.
  bool ends_value(const Token& token) const {
    if (nested_.size() > value_.depth || token.kind == Kind::kText) return false;
    if (closes(token.written) || token.written == ";") return true;
    if (token.written == ",") return !value_.list;
    if (token.kind == Kind::kNumber) return after_operand_;
    if (token.kind != Kind::kName || goes_on(token.written)) return false;
    return after_operand_ || is_statement_word(token.written);
  }

  void begin_hiding() {
    value_ = std::exchange(next_, {});
    value_.depth = nested_.size();
    hiding_ = true;
    after_operand_ = false;
  }

  void put(const Token& token) {
    if (token.kind == Kind::kText) {
      const auto before = static_cast<std::size_t>(token.content.data() - token.written.data());
      made_.append(token.written.substr(0, before));
      made_.append(shown(token));
      made_.append(token.written.substr(before + token.content.size()));
    } else if (token.kind == Kind::kNumber && hiding_ && value_.sure) {
      made_.append(kMask);
    } else {
      made_.append(token.written);
    }
  }

  // token = login({ user = "ada" }).token: what is given to others is not what the name holds.
  std::string shown(const Token& text) const {
    if (!hiding_ || (!value_.sure && nested_.size() > value_.depth))
      return looked_into(text.content, text.written.front() == '[');
    return comes_from_elsewhere(text.content) ? std::string(text.content) : hidden(text.content);
  }

  // The position of the next token behind `at` that is neither blank nor a comment.
  std::size_t behind(std::size_t at) const {
    do {
      ++at;
    } while (at < tokens_.size() && (tokens_[at].kind == Kind::kBlank || tokens_[at].kind == Kind::kComment));
    return at;
  }
  std::string_view written(std::size_t at) const {
    return at < tokens_.size() && tokens_[at].kind != Kind::kText ? tokens_[at].written : std::string_view();
  }

  // If the token at `at` is a key whose value is not to be shown, sets where that begins.
  void look_for_value(std::size_t at) {
    const Token& token = tokens_[at];
    if (token.kind != Kind::kText && token.kind != Kind::kName) return;
    const bool sure = holds_credentials(token.content);
    const bool field = expressions_ == kNone && may_hold_credentials(token.content);
    if (!sure && !field && !protocol::carries_credentials(token.content)) return;
    std::size_t next = behind(at);
    const bool argument = !nested_.empty() && nested_.back() == "(";
    if (token.kind == Kind::kText && sure && argument && written(next) == ",") {
      next_ = {.begin = behind(next), .depth = 0, .list = false, .sure = true};
      return;
    }
    const bool index = token.kind == Kind::kText && written(next) == "]";
    if (index) next = behind(next);
    const bool statement = index ? outer_is_statement() : in_statement();
    // Names such as `token` are those of values, but not in `save = { token = … }`.
    if (!sure && !field && !(statement && token.kind == Kind::kName)) return;
    if (statement) next = end_of_names(next);
    if (written(next) == "=") next_ = {.begin = behind(next), .depth = 0, .list = statement, .sure = sure};
  }

  // The same for what surrounds the index that is open now.
  bool outer_is_statement() const {
    if (nested_.size() < 2) return true;
    const std::string_view outer = nested_[nested_.size() - 2];
    return outer != "(" && outer != "[" && outer != "{";
  }

  // local password, user = …
  std::size_t end_of_names(std::size_t at) const {
    constexpr std::size_t kMost = 256;  // tokens; so that no text takes long
    const std::size_t begin = at;
    if (written(at) != ",") return at;
    for (std::size_t i = 0; i < kMost && at < tokens_.size() && written(at) != "="; ++i) {
      const bool name = tokens_[at].kind == Kind::kName && !is_statement_word(tokens_[at].written);
      const bool sign = written(at) == "," || written(at) == "." || written(at) == "[" || written(at) == "]";
      if (!name && !sign && tokens_[at].kind != Kind::kText) return begin;
      at = behind(at);
    }
    return at;
  }

  // An expression that is not to be shown.
  struct Value {
    std::size_t begin = kNone;  // its first token
    std::size_t depth = 0;      // how many brackets and blocks are open around it
    bool list = false;          // it may be several, for several names
    bool sure = false;          // its name says that all in it is secret
  };

  std::vector<Token> tokens_;
  std::string made_;
  std::vector<std::string_view> nested_;    // brackets and blocks that are open
  std::array<std::string_view, 2> latest_;  // tokens, the latest one last
  std::size_t expressions_ = kNone;         // how many are open inside of the table that gives names to expressions
  bool after_operand_ = false;              // the latest token may end an expression
  Value next_;                              // whose name was read
  Value value_;
  bool hiding_ = false;  // inside of `value_`
};

}  // namespace

std::string masked_lua(std::string_view source) {
  const std::string masked = LuaMasking(source).run();
  std::string made;
  std::string_view rest = masked;
  while (true) {
    const std::size_t end = rest.find('\n');
    append_without_users(made, rest.substr(0, end));
    if (end == kNone) break;
    made += '\n';
    rest.remove_prefix(end + 1);
  }
  return made;
}

}  // namespace muster::report
