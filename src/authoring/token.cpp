#include "authoring/token.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "authoring/value_text.h"
#include "base/characters.h"
#include "base/units.h"
#include "base/utf8.h"

namespace muster::authoring {
namespace {

using model::Value;

constexpr std::array<std::string_view, 26> kOperators{"??", "||", "&&", "==", "!=", "<=", ">=", "<", ">",
                                                      "!",  "+",  "-",  "*",  "/",  "%",  "(",  ")", "[",
                                                      "]",  ",",  "=",  "|",  "&",  "?",  ":",  "."};

bool name_start(char c) {
  return base::is_letter(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

bool name_part(char c) {
  return name_start(c) || base::is_digit(c);
}

// A '%' right after a number is a percentage unless an operand follows it at once, as in 7%3.
bool percent_at(std::string_view text, std::size_t at) {
  if (at >= text.size() || text[at] != '%') return false;
  if (at + 1 == text.size()) return true;
  const char after = text[at + 1];
  return !name_part(after) && after != '(' && after != '\'' && after != '"' && after != '[' && after != '-';
}

}  // namespace

std::string found(const Token& token) {
  constexpr std::size_t kShown = 40;
  if (token.kind == TokenKind::kEnd) return "the end";
  if (token.spelling.size() > kShown) return fmt::format("'{}…'", token.spelling.substr(0, kShown));
  if (token.kind == TokenKind::kText) return std::string(token.spelling);
  return fmt::format("'{}'", token.spelling);
}

void Tokenizer::skip_space() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
    ++at_;
  }
}

// A '-' directly between two characters of names belongs to the name: header.content-type, get-user.status.
std::size_t Tokenizer::name_length(std::size_t from) const {
  std::size_t at = from;
  while (at < text_.size()) {
    const bool dash = text_[at] == '-' && at > from && at + 1 < text_.size() && name_part(text_[at + 1]);
    if (!name_part(text_[at]) && !dash) break;
    ++at;
  }
  return at - from;
}

std::expected<Token, ExpressionError> Tokenizer::next() {
  skip_space();
  if (at_ == text_.size()) return Token{.offset = at_};
  const char c = text_[at_];
  if (base::is_digit(c) || (c == '.' && at_ + 1 < text_.size() && base::is_digit(text_[at_ + 1]))) return number();
  if (c == '\'' || c == '"') return quoted();
  Token token{.offset = at_};
  if (name_start(c)) {
    token.kind = TokenKind::kName;
    token.spelling = text_.substr(at_, name_length(at_));
    at_ += token.spelling.size();
    return token;
  }
  for (const std::string_view spelling : kOperators) {
    if (!text_.substr(at_).starts_with(spelling)) continue;
    token.kind = TokenKind::kOperator;
    token.spelling = text_.substr(at_, spelling.size());
    at_ += spelling.size();
    return token;
  }
  if (c == '$' || c == '{' || c == '}') {
    return error_at(at_, fmt::format("'{}' has no meaning inside an expression; names stand without ${{…}} here", c));
  }
  const auto byte = static_cast<unsigned char>(c);
  return error_at(at_, byte < 0x20 || byte == 0x7F
                           ? fmt::format("character 0x{:02x} has no meaning in an expression", byte)
                           : fmt::format("'{}' has no meaning in an expression", c));
}

std::expected<Token, ExpressionError> Tokenizer::number() {
  Token token{.kind = TokenKind::kNumber, .offset = at_};
  if (text_[at_] == '.') return error_at(at_, "a number starts with a digit: write 0.5 rather than .5");
  const std::size_t digits = base::number_length(text_.substr(at_));
  std::size_t end = at_ + digits;
  const auto finish = [&](Value value) -> std::expected<Token, ExpressionError> {
    token.spelling = text_.substr(at_, end - at_);
    token.number = value;
    at_ = end;
    return token;
  };
  if (percent_at(text_, end)) {
    const auto percent = base::parse_percent(text_.substr(at_, ++end - at_));
    return percent ? finish(Value::of(*percent)) : error_at(at_, percent.error().message);
  }
  if (end < text_.size() && name_start(text_[end])) {
    while (end < text_.size() &&
           (name_part(text_[end]) || (text_[end] == '.' && end + 1 < text_.size() && base::is_digit(text_[end + 1])))) {
      ++end;
    }
    const std::string_view whole = text_.substr(at_, end - at_);
    if (const auto duration = base::parse_duration(whole)) return finish(Value::of(base::seconds(*duration)));
    if (const auto size = base::parse_size(whole)) return finish(Value::of(static_cast<std::int64_t>(*size)));
    return error_at(at_, fmt::format("'{}' is no number with a unit; units are ns us ms s m h d, %, and B KB KiB … TiB",
                                     whole.substr(0, 40)));
  }
  const Value value = number_of(text_.substr(at_, digits));
  if (value.missing()) return error_at(at_, "this number is too large or has too many digits");
  return finish(value);
}

std::expected<Token, ExpressionError> Tokenizer::quoted() {
  Token token{.kind = TokenKind::kText, .offset = at_};
  const char quote = text_[at_++];
  while (at_ < text_.size() && text_[at_] != quote) {
    if (text_[at_] == '\\') {
      if (auto resolved = escape(token.text); !resolved) return std::unexpected(resolved.error());
    } else {
      token.text.push_back(text_[at_++]);
    }
  }
  if (at_ == text_.size())
    return error_at(token.offset, fmt::format("this text is not closed; add {} at its end", quote));
  ++at_;
  token.spelling = text_.substr(token.offset, at_ - token.offset);
  return token;
}

std::expected<void, ExpressionError> Tokenizer::escape(std::string& out) {
  const std::size_t start = at_++;
  if (at_ == text_.size()) return {};
  const char c = text_[at_++];
  const auto hex = [&](std::size_t digits) -> std::optional<std::uint32_t> {
    std::uint32_t code = 0;
    if (text_.size() - at_ < digits) return std::nullopt;
    const char* const end = text_.data() + at_ + digits;
    const auto [stop, failure] = std::from_chars(text_.data() + at_, end, code, 16);
    if (failure != std::errc() || stop != end) return std::nullopt;
    at_ += digits;
    return code;
  };
  switch (c) {
    case 'n':
      out.push_back('\n');
      return {};
    case 'r':
      out.push_back('\r');
      return {};
    case 't':
      out.push_back('\t');
      return {};
    case '0':
      out.push_back('\0');
      return {};
    case 'b':
      out.push_back('\b');
      return {};
    case 'f':
      out.push_back('\f');
      return {};
    case '\\':
    case '\'':
    case '"':
    case '/':
    case '$':
      out.push_back(c);
      return {};
    case 'x':
      if (const auto byte = hex(2)) {
        out.push_back(static_cast<char>(*byte));
        return {};
      }
      return error_at(start, "\\x needs two hexadecimal digits");
    case 'u': {
      auto code = hex(4);
      // The first half of a surrogate pair must be followed by the second one.
      if (code && *code >= 0xD800 && *code < 0xDC00 && text_.substr(at_).starts_with("\\u")) {
        at_ += 2;
        const auto low = hex(4);
        if (!low || *low < 0xDC00 || *low > 0xDFFF) return error_at(start, "this surrogate pair is not complete");
        code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
      }
      if (!code) return error_at(start, "\\u needs four hexadecimal digits");
      if (*code >= 0xD800 && *code <= 0xDFFF) return error_at(start, "this surrogate pair is not complete");
      base::append_utf8(out, *code);
      return {};
    }
    default:
      break;
  }
  return error_at(
      start,
      "unknown escape; known are \\n \\r \\t \\b \\f \\0 \\\\ \\' \\\" \\/ \\$ \\xHH and \\uHHHH (\\\\ for a "
      "backslash)");
}

std::expected<void, ExpressionError> Tokenizer::read_path_rest(Path& path) {
  while (at_ < text_.size()) {
    if (text_[at_] == '[') {
      if (auto part = bracket(path); !part) return part;
      continue;
    }
    if (text_[at_] != '.') return {};
    const std::size_t start = at_ + 1;
    const std::size_t length = name_length(start);
    if (length == 0) return error_at(at_, "a name or an index must follow '.'; write odd names as [\"odd name\"]");
    at_ = start + length;
    const std::string_view name = text_.substr(start, length);
    std::int64_t index = 0;
    const auto [stop, failure] = std::from_chars(name.data(), name.data() + name.size(), index);
    if (failure == std::errc() && stop == name.data() + name.size()) {
      path.emplace_back(index);
    } else {
      path.emplace_back(std::string(name));
    }
  }
  return {};
}

std::expected<void, ExpressionError> Tokenizer::bracket(Path& path) {
  const std::size_t start = at_++;
  auto token = next();
  if (!token) return std::unexpected(token.error());
  const bool negative = token->kind == TokenKind::kOperator && token->spelling == "-";
  if (negative) {
    token = next();
    if (!token) return std::unexpected(token.error());
  }
  if (token->kind == TokenKind::kNumber && token->number.type() == model::ValueType::kInteger) {
    path.emplace_back(negative ? -token->number.integer() : token->number.integer());
  } else if (token->kind == TokenKind::kText && !negative) {
    path.emplace_back(std::move(token->text));
  } else {
    return error_at(token->offset,
                    fmt::format("expected an index or a quoted name inside [ ], found {}", found(*token)));
  }
  const auto close = next();
  if (!close) return std::unexpected(close.error());
  if (close->spelling != "]")
    return error_at(start, fmt::format("this '[' is not closed: expected ']', found {}", found(*close)));
  return {};
}

}  // namespace muster::authoring
