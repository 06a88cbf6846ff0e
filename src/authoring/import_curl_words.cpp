#include "authoring/import_curl_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "authoring/import_draft.h"
#include "base/characters.h"
#include "base/utf8.h"

namespace muster::authoring {
namespace {

bool name_byte(char c, bool first) {
  const bool letter = base::is_letter(c) || c == '_';
  return letter || (!first && base::is_digit(c));
}

int digit_of(char c, int base) {
  int value = -1;
  if (base::is_digit(c)) value = c - '0';
  if (c >= 'a' && c <= 'f') value = c - 'a' + 10;
  if (c >= 'A' && c <= 'F') value = c - 'A' + 10;
  return value < base ? value : -1;
}

// A word takes any number that $'\U…' names; what is no character is shown as one that is missing.
void append_character(std::string& out, std::uint32_t code) {
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
    out += base::kReplacement;
  } else {
    base::append_utf8(out, code);
  }
}

class Splitter {
 public:
  // `line` is that of the text's beginning, and `substitutions` have made-up names already.
  Splitter(std::string_view text, const ImportLimits& limits, std::size_t line = 1, int substitutions = 0)
      : text_(text), limits_(limits), line_(line), substitutions_(substitutions) {}

  int substitutions() const { return substitutions_; }

  base::Expected<ShellText> run() {
    while (at_ < text_.size()) {
      if (!token()) return base::fail(std::move(problem_));
    }
    end_command();
    return std::move(made_);
  }

 private:
  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);
  struct HereDocument {
    std::size_t owner = kNobody;  // place of its command, which an operator may have ended since
    std::string end;
    bool literal = false;
    bool strip_tabs = false;
  };

  bool ended() const { return at_ >= text_.size(); }
  std::string_view rest() const { return text_.substr(std::min(at_, text_.size())); }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void put(char c) {
    word_ += escape_marks({&c, 1});
    in_word_ = true;
  }

  char take() {
    const char c = text_[at_++];
    if (c == '\n') ++line_;
    return c;
  }

  bool refuse(std::string_view what, std::size_t line) {
    problem_ = fmt::format("line {}: {}; check that the whole command was copied", line, what);
    return false;
  }

  void end_word() {
    if (!in_word_) return;
    in_word_ = false;
    std::string word = std::move(word_);
    word_.clear();
    if (skip_words_ > 0) {  // the file of a redirection
      --skip_words_;
      return;
    }
    if (command_.words.empty()) command_.line = word_line_;
    command_.words.push_back(std::move(word));
  }

  void end_command() {
    end_word();
    skip_words_ = 0;
    if (!command_.words.empty()) {
      made_.commands.push_back(std::move(command_));
    } else {
      for (std::size_t i = here_.size(); i > 0 && here_[i - 1].owner == made_.commands.size(); --i) {
        here_[i - 1].owner = kNobody;
      }
    }
    command_ = {};
  }

  void note(std::string message) { made_.notes.push_back({fmt::format("line {}", line_), std::move(message)}); }

  bool token();
  bool continuation();
  bool single_quotes();
  bool double_quotes();
  bool ansi_quotes();
  void ansi_escape();
  bool dollar();
  bool substitution(std::size_t begin, std::size_t end, std::string_view shown);
  bool command_in_parentheses();
  bool backquotes();
  bool redirection();
  void here_document(const HereDocument& here);
  void variable(std::string_view name);
  std::uint32_t number(int base, int most);

  std::string_view text_;
  const ImportLimits& limits_;
  std::size_t at_ = 0;
  std::size_t line_;
  std::string word_;
  bool in_word_ = false;
  std::size_t word_line_ = 1;
  int skip_words_ = 0;
  int substitutions_;
  ShellCommand command_;
  std::vector<HereDocument> here_;  // of this line; what they hold is below it
  ShellText made_;
  std::string problem_;
};

// A backslash before a line's end joins it with the next.
bool Splitter::continuation() {
  if (peek() != '\\') return false;
  const std::size_t skip = peek(1) == '\n' ? 2 : peek(1) == '\r' && peek(2) == '\n' ? 3 : 0;
  if (skip == 0) return false;
  at_ += skip;
  ++line_;
  return true;
}

bool Splitter::token() {
  if (command_.words.size() > limits_.words) {
    return refuse(fmt::format("a command of more than {} words", limits_.words), line_);
  }
  if (!in_word_) word_line_ = line_;
  if (continuation()) return true;
  const char c = peek();
  switch (c) {
    case ' ':
    case '\t':
    case '\r':
      end_word();
      ++at_;
      return true;
    case '\n':
      take();
      end_command();
      for (const HereDocument& each : std::exchange(here_, {})) here_document(each);
      return true;
    case ';':
    case '|':
    case '&':
    case '(':
    case ')':
      // `&>` sends output to a file.
      if (c == '&' && peek(1) == '>') {
        ++at_;
        return redirection();
      }
      ++at_;
      end_command();
      // `&&` is an operator of its own.
      command_.after_ampersand = c == '&' && peek() != '&' && (at_ < 2 || text_[at_ - 2] != '&');
      return true;
    case '<':
    case '>':
      return redirection();
    case '#':
      if (in_word_) break;
      while (!ended() && peek() != '\n') ++at_;
      return true;
    case '\'':
      return single_quotes();
    case '"':
      return double_quotes();
    case '`':
      return backquotes();
    case '$':
      return dollar();
    case '\\':
      ++at_;
      if (!ended()) put(take());
      return true;
    default:
      break;
  }
  put(take());
  return true;
}

bool Splitter::single_quotes() {
  const std::size_t begun = line_;
  ++at_;
  in_word_ = true;
  while (!ended()) {
    const char c = take();
    if (c == '\'') return true;
    put(c);
  }
  return refuse("a quote (') is not closed", begun);
}

bool Splitter::double_quotes() {
  const std::size_t begun = line_;
  ++at_;
  in_word_ = true;
  while (!ended()) {
    if (continuation()) continue;
    const char c = peek();
    if (c == '"') {
      ++at_;
      return true;
    }
    if (c == '$' && peek(1) != '\'' && peek(1) != '"') {
      if (!dollar()) return false;
    } else if (c == '`') {
      if (!backquotes()) return false;
    } else if (c == '\\' && std::string_view("$`\"\\").find(peek(1)) != std::string_view::npos && peek(1) != '\0') {
      ++at_;
      put(take());
    } else {
      put(take());
    }
  }
  return refuse("a quote (\") is not closed", begun);
}

bool Splitter::ansi_quotes() {
  const std::size_t begun = line_;
  const std::size_t from = word_.size();
  at_ += 2;
  in_word_ = true;
  while (!ended()) {
    const char c = take();
    if (c == '\'') {
      if (const std::size_t zero = word_.find('\0', from); zero != std::string::npos) {
        word_.resize(zero);
        note("a zero byte in $'…' ends it, as in bash; what follows it there is left out");
      }
      return true;
    }
    if (c == '\\' && !ended()) {
      ansi_escape();
    } else {
      put(c);
    }
  }
  return refuse("a quote ($') is not closed", begun);
}

std::uint32_t Splitter::number(int base, int most) {
  std::uint32_t value = 0;
  for (int count = 0; count < most && !ended() && digit_of(peek(), base) >= 0; ++count) {
    value = value * static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(digit_of(take(), base));
  }
  return value;
}

void Splitter::ansi_escape() {
  constexpr std::string_view kLetters = "abeEfnrtv\\'\"?";
  constexpr std::string_view kMeanings = "\a\b\x1B\x1B\f\n\r\t\v\\'\"?";
  const char c = peek();
  if (const std::size_t found = kLetters.find(c); found != std::string_view::npos) {
    ++at_;
    return put(kMeanings[found]);
  }
  if (digit_of(c, 8) >= 0) return put(static_cast<char>(static_cast<unsigned char>(number(8, 3))));
  if ((c == 'x' && digit_of(peek(1), 16) >= 0)) {
    ++at_;
    return put(static_cast<char>(static_cast<unsigned char>(number(16, 2))));
  }
  if ((c == 'u' || c == 'U') && digit_of(peek(1), 16) >= 0) {
    ++at_;
    append_character(word_, number(16, c == 'u' ? 4 : 8));
    return;
  }
  if (c == 'c' && at_ + 1 < text_.size()) {
    ++at_;
    return put(static_cast<char>(take() & 0x1F));
  }
  put('\\');
  put(take());
}

void Splitter::variable(std::string_view name) {
  word_ += kVariableBegin;
  word_ += name;
  word_ += kVariableEnd;
  in_word_ = true;
}

bool Splitter::dollar() {
  if (peek(1) == '\'') return ansi_quotes();
  if (peek(1) == '"') {
    ++at_;
    return double_quotes();
  }
  if (peek(1) == '(') return command_in_parentheses();
  if (peek(1) == '{') {
    const std::size_t end = text_.find('}', at_);
    if (end == std::string_view::npos) return refuse("a ${ is not closed", line_);
    const std::string_view inside = text_.substr(at_ + 2, end - at_ - 2);
    std::size_t length = 0;
    while (length < inside.size() && name_byte(inside[length], length == 0)) ++length;
    if (length == inside.size() && length > 0) {
      variable(inside);
      at_ = end + 1;
      return true;
    }
    return substitution(at_, end + 1, "the expansion");
  }
  // Parameters of the script and the shell, which have one letter.
  if (peek(1) != '\0' && std::string_view("0123456789?@*#!$-").find(peek(1)) != std::string_view::npos) {
    return substitution(at_, at_ + 2, "the expansion");
  }
  std::size_t length = 0;
  while (name_byte(peek(1 + length), length == 0)) ++length;
  if (length == 0) {
    put(take());
    return true;
  }
  variable(text_.substr(at_ + 1, length));
  at_ += 1 + length;
  return true;
}

// What a shell would work out: a variable stands in its place.
bool Splitter::substitution(std::size_t begin, std::size_t end, std::string_view shown) {
  const std::string name = fmt::format("SHELL_{}", ++substitutions_);
  std::string_view written = text_.substr(begin, end - begin);
  note(fmt::format("{} {}{} is not run; its place holds ${{env.{}}}", shown, written.substr(0, 60),
                   written.size() > 60 ? "…" : "", name));
  line_ += static_cast<std::size_t>(std::ranges::count(written, '\n'));
  at_ = end;
  variable(name);
  return true;
}

bool Splitter::command_in_parentheses() {
  std::size_t depth = 0;
  for (std::size_t i = at_ + 1; i < text_.size(); ++i) {
    if (text_[i] == '(') ++depth;
    if (text_[i] == ')' && --depth == 0) return substitution(at_, i + 1, "the command");
  }
  return refuse("a $( is not closed", line_);
}

bool Splitter::backquotes() {
  std::size_t end = at_ + 1;
  while (end < text_.size() && text_[end] != '`') end += text_[end] == '\\' ? 2u : 1u;
  if (end >= text_.size()) return refuse("a ` is not closed", line_);
  return substitution(at_, end + 1, "the command");
}

// The operator and the word after it say nothing about the request, except a here-document.
bool Splitter::redirection() {
  // Digits right before it are the number of a descriptor.
  if (in_word_ && word_.size() == 1 && base::is_digit(word_.front())) {
    word_.clear();
    in_word_ = false;
  }
  end_word();
  if (rest().starts_with("<<") && !rest().starts_with("<<<")) {
    at_ += 2;
    HereDocument here;
    here.owner = made_.commands.size();
    here.strip_tabs = peek() == '-';
    if (here.strip_tabs) ++at_;
    while (peek() == ' ' || peek() == '\t') ++at_;
    while (!ended() && std::string_view(" \t\r\n;|&").find(peek()) == std::string_view::npos) {
      const char c = take();
      if (c == '\'' || c == '"' || c == '\\') {
        here.literal = true;
      } else {
        here.end += c;
      }
    }
    here_.push_back(std::move(here));
    return true;
  }
  while (!ended() && std::string_view("<>&|").find(peek()) != std::string_view::npos) ++at_;
  if (base::is_digit(peek()) && at_ > 0 && text_[at_ - 1] == '&') {
    ++at_;
    return true;
  }
  ++skip_words_;
  return true;
}

void Splitter::here_document(const HereDocument& here) {
  std::string body;
  const std::size_t begun = line_;
  while (!ended()) {
    const std::size_t stop = std::min(text_.find('\n', at_), text_.size());
    std::string_view line = text_.substr(at_, stop - at_);
    at_ = std::min(stop + 1, text_.size());
    ++line_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    while (here.strip_tabs && line.starts_with('\t')) line.remove_prefix(1);
    if (line == here.end) break;
    body.append(line).push_back('\n');
  }
  std::string input = escape_marks(body);
  if (!here.literal) {
    // As in double quotes, where `"` has no meaning.
    std::string quoted = "\"";
    for (std::size_t i = 0; i < body.size(); ++i) {
      const char next = i + 1 < body.size() ? body[i + 1] : '\0';
      const bool pair = body[i] == '\\' && (next == '\\' || next == '$' || next == '`');
      if (body[i] == '"' || (body[i] == '\\' && next == '"')) quoted += '\\';
      quoted += body[i];
      if (pair) quoted += body[++i];
    }
    quoted += '"';
    Splitter splitter(quoted, limits_, begun, substitutions_);
    if (auto inside = splitter.run(); inside && inside->commands.size() == 1) {
      input = std::move(inside->commands.front().words.front());
      for (ImportNote& each : inside->notes) made_.notes.push_back(std::move(each));
      substitutions_ = splitter.substitutions();
    }
  }
  if (here.owner >= made_.commands.size()) return;
  made_.commands[here.owner].input = std::move(input);
  made_.commands[here.owner].has_input = true;
}

}  // namespace

base::Expected<ShellText> split_shell(std::string_view text, const ImportLimits& limits) {
  return Splitter(text, limits).run();
}

}  // namespace muster::authoring
