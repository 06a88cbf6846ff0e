#include "report/source_mask.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/letter_case.h"
#include "protocol/credentials.h"
#include "report/source_mask_parts.h"

namespace muster::report {

bool holds_credentials(std::string_view key) {
  constexpr std::array<std::string_view, 14> kKeys = {
      "authorization", "cookie", "api_key",       "apikey",     "password",     "passwd", "pwd",
      "passphrase",    "secret", "client_secret", "access_key", "access_token", "basic",  "bearer"};
  if (key.contains('-')) return protocol::carries_credentials(key);
  return std::ranges::find(kKeys, base::lower(key)) != kKeys.end();
}

bool may_hold_credentials(std::string_view key) {
  // `json.token` is the label of a check; `key` alone is the file of a target's certificate, too.
  return !key.contains('.') && !base::equal_ignoring_case(key, "key") && protocol::names_credentials(key);
}

bool names_expressions(std::string_view key) {
  constexpr std::array<std::string_view, 5> kKeys = {"save", "set", "provide", "use", "check"};
  return std::ranges::find(kKeys, key) != kKeys.end();
}

namespace {

bool key_or_path_character(char each) {
  return std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '_' || each == '-' || each == '.';
}

bool is_blank(char each) {
  return each == ' ' || each == '\t' || each == '\r';
}

// Where a quoted text that begins at `at` ends: one behind its closing quote. kNone if that is not on this line.
std::size_t end_of_quoted(std::string_view line, std::size_t at) {
  const char quote = line[at];
  for (std::size_t i = at + 1; i < line.size(); ++i) {
    if (quote == '"' && line[i] == '\\') {
      ++i;
    } else if (line[i] == quote) {
      if (quote == '\'' && i + 1 < line.size() && line[i + 1] == '\'') {
        ++i;
      } else {
        return i + 1;
      }
    }
  }
  return kNone;
}

std::size_t end_of_list(std::string_view line, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at; i < line.size(); ++i) {
    if (line[i] == '"' || line[i] == '\'') {
      const std::size_t end = end_of_quoted(line, i);
      if (end == kNone) break;
      i = end - 1;
    } else if (line[i] == '[' || line[i] == '{') {
      ++depth;
    } else if ((line[i] == ']' || line[i] == '}') && --depth == 0) {
      return i + 1;
    }
  }
  return kNone;
}

std::size_t end_of_plain(std::string_view line, std::size_t at, bool flow) {
  std::size_t end = at;
  for (; end < line.size(); ++end) {
    const char each = line[end];
    if (flow && (each == ',' || each == '}' || each == ']')) break;
    if (each == '#' && end > at && line[end - 1] == ' ') break;
  }
  while (end > at && is_blank(line[end - 1])) --end;
  return end;
}

struct Value {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool open = false;  // it may go on in lines that are indented more than its key
};

// The value that belongs to a key ending at `at`, or an empty one where no value stands on this line.
Value value_after(std::string_view line, std::size_t at, bool quoted_key, bool flow) {
  while (at < line.size() && is_blank(line[at])) ++at;
  if (at >= line.size() || line[at] != ':') return {};
  ++at;
  if (!quoted_key && at < line.size() && !is_blank(line[at])) return {};
  while (at < line.size() && is_blank(line[at])) ++at;
  if (at >= line.size()) return {at, at, true};
  std::size_t end = kNone;
  if (line[at] == '"' || line[at] == '\'') {
    end = end_of_quoted(line, at);
  } else if (line[at] == '[' || line[at] == '{') {
    end = end_of_list(line, at);
  } else {
    end = end_of_plain(line, at, flow);
    return {at, end, !flow || line.find_first_not_of(" \t\r", end) == kNone};
  }
  return {at, std::min(end, line.size()), end == kNone};
}

// Whether a value may follow what ends at `at`.
bool is_key(std::string_view line, std::size_t at) {
  const std::size_t next = line.find_first_not_of(" \t", at);
  return next != kNone && line[next] == ':';
}

std::size_t indent_of(std::string_view line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first == kNone ? kNone : first;
}

// The entries of a list may be indented as much as its key.
bool is_entry_at(std::string_view line, std::size_t indent) {
  return indent_of(line) == indent && line[indent] == '-' && (line.size() == indent + 1 || is_blank(line[indent + 1]));
}

class Masking {
 public:
  void add(std::string_view line) {
    const std::size_t indent = indent_of(line);
    if (block_ && (indent == kNone || indent > block_indent_ || is_entry_at(line, block_indent_))) {
      if (indent != kNone) made_.append(line.substr(0, indent)).append(kMask);
      return;
    }
    block_ = false;
    if (indent != kNone && indent <= names_indent_) names_indent_ = kNone;
    std::string without_users;
    append_without_users(without_users, mask_keys(line, indent == kNone ? 0 : indent));
    made_ += without_form_values(without_users);
  }
  void end_line() { made_ += '\n'; }
  std::string take() { return std::move(made_); }

 private:
  std::string mask_keys(std::string_view line, std::size_t indent) {
    std::string masked;
    std::size_t names_end = 0;  // up to there names of expressions stand
    int depth = 0;
    for (std::size_t at = 0; at < line.size();) {
      const char each = line[at];
      if (each == '#' && (at == 0 || line[at - 1] == ' ')) {
        masked.append(line.substr(at));
        break;
      }
      if (each == '{' || each == '[') ++depth;
      if (each == '}' || each == ']') --depth;
      // A quote inside a word, as in it's, quotes nothing.
      const bool quoted = (each == '"' || each == '\'') && (at == 0 || !key_or_path_character(line[at - 1]));
      if (!quoted && !key_or_path_character(each)) {
        masked += each;
        ++at;
        continue;
      }
      std::size_t end = at;
      bool closed = false;
      if (quoted) {
        end = end_of_quoted(line, at);
        closed = end != kNone;
        end = std::min(end, line.size());
      } else {
        while (end < line.size() && key_or_path_character(line[end])) ++end;
      }
      const std::size_t begin = at;
      const std::string_view word = line.substr(at, end - at);
      at = end;
      if (quoted && closed && !is_key(line, end)) {
        masked.append(1, each).append(looked_into(word.substr(1, word.size() - 2), each == '\'')).append(1, each);
        continue;
      }
      masked.append(word);
      const std::string_view key = quoted && word.size() >= 2 ? word.substr(1, word.size() - 2) : word;
      // The key of a list's first entry stands behind its dash.
      const std::size_t column = line.find_first_not_of(" -") == begin ? begin : indent;
      if (names_expressions(key)) {
        const Value value = value_after(line, end, quoted, depth > 0);
        names_end = std::max(names_end, value.end);
        if (value.open) names_indent_ = std::min(names_indent_, column);
      }
      const bool names = at < names_end || names_indent_ != kNone;
      if (!holds_credentials(key) && (names || !may_hold_credentials(key))) continue;
      const Value value = value_after(line, end, quoted, depth > 0);
      if (value.open) {
        block_ = true;
        block_indent_ = column;
      }
      if (value.end > value.begin) at = mask_value(masked, line, end, value);
    }
    return masked;
  }

  // Returns where to go on.
  std::size_t mask_value(std::string& masked, std::string_view line, std::size_t from, Value value) {
    const std::string_view text = line.substr(value.begin, value.end - value.begin);
    masked.append(line.substr(from, value.begin - from));
    if (text.front() == '|' || text.front() == '>' || comes_from_elsewhere(text)) {
      masked.append(text);
    } else if (text.front() == '"' || text.front() == '\'') {
      masked.append(1, text.front()).append(kMask).append(1, text.front());
    } else {
      masked.append(kMask);
    }
    return value.end;
  }

  std::string made_;
  bool block_ = false;  // inside what belongs to a key that holds credentials
  std::size_t block_indent_ = 0;
  std::size_t names_indent_ = kNone;  // of the key whose map, in the lines below, gives names to expressions
};

// Where the first line begins that says something in YAML: no comment, directive or beginning of a document.
std::size_t first_content(std::string_view source) {
  std::size_t at = source.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  while (at < source.size()) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    const std::string_view line = source.substr(at, end - at);
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first != kNone && line[first] != '#' && line[first] != '%' && !line.starts_with("---")) return at + first;
    at = end + 1;
  }
  return kNone;
}

}  // namespace

bool is_lua(std::string_view source) {
  const std::size_t first = first_content(source);
  if (first == kNone) return false;
  const std::string_view line = source.substr(first, source.find('\n', first) - first);
  if (line.starts_with("--") || line.starts_with("::") || line.front() == '(' || line.front() == ';') return true;
  const auto is_letter = [](char each) { return std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '_'; };
  if (!is_letter(line.front())) return false;  // no statement begins so
  // The text of a job is a map; `shop:open()` is a call.
  const std::size_t end =
      static_cast<std::size_t>(std::ranges::find_if_not(line, key_or_path_character) - line.begin());
  const std::size_t colon = std::min(line.find_first_not_of(" \t", end), line.size());
  const bool key = line.substr(colon).starts_with(':') && (colon + 1 == line.size() || is_blank(line[colon + 1]));
  return !key;
}

// https://user:password@host
void append_without_users(std::string& made, std::string_view line) {
  while (true) {
    const std::size_t scheme = line.find("://");
    if (scheme == kNone) break;
    const std::size_t begin = scheme + 3;
    const std::size_t end = std::min(line.find_first_of("/?# \"'", begin), line.size());
    const std::size_t at = line.substr(begin, end - begin).rfind('@');
    made.append(line.substr(0, begin));
    if (at != kNone && !line.substr(begin, at).contains("${")) {
      made.append(kMask);
      line.remove_prefix(begin + at);
    } else {
      line.remove_prefix(begin);
    }
  }
  made.append(line);
}

std::string masked_yaml(std::string_view source) {
  Masking masking;
  while (true) {
    const std::size_t end = source.find('\n');
    masking.add(source.substr(0, end));
    if (end == kNone) break;
    masking.end_line();
    source.remove_prefix(end + 1);
  }
  return masking.take();
}

std::string masked_source(std::string_view source) {
  return is_lua(source) ? masked_lua(source) : masked_yaml(source);
}

}  // namespace muster::report
