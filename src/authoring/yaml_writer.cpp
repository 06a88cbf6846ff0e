#include "authoring/yaml_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/characters.h"
#include "base/escapes.h"
#include "base/letter_case.h"
#include "base/utf8.h"

namespace muster::authoring {
namespace {

// Longer ones are easier to follow in quotes.
constexpr std::size_t kLongestPlain = 160;

// Words that YAML 1.1, YAML 1.2 or our loader take for something else than text.
bool reserved(std::string_view text) {
  constexpr std::array<std::string_view, 12> kWords{"true", "false", "null", "yes", "no",  "on",
                                                    "off",  "y",     "n",    "nan", "inf", "none"};
  return std::ranges::find(kWords, base::lower(text)) != kWords.end();
}

// Begins with a letter or '/', holds nothing that YAML gives a meaning, and no blank.
bool plain(std::string_view text, bool key) {
  if (text.empty() || text.size() > kLongestPlain) return false;
  if (!base::is_letter(text.front()) && text.front() != '/') return false;
  const std::string_view others = key ? "_./-" : "_./-+=?&%@~:;";
  const bool good = std::ranges::all_of(
      text, [&](char c) { return base::is_letter_or_digit(c) || others.find(c) != std::string_view::npos; });
  return good && !text.ends_with(':') && !reserved(text);
}

// Characters that an editor, a terminal or the loader's own check would trip over, by their UTF-8 bytes.
bool awkward(std::string_view character) {
  constexpr std::array<std::string_view, 7> kAll{"\xC2\x85",     "\xC2\xA0",     "\xE2\x80\xA8", "\xE2\x80\xA9",
                                                 "\xEF\xBB\xBF", "\xEF\xBF\xBE", "\xEF\xBF\xBF"};
  if (character.size() == 2 && character[0] == '\xC2' && static_cast<unsigned char>(character[1]) < 0xA0) return true;
  return std::ranges::find(kAll, character) != kAll.end();
}

void append_escaped_byte(std::string& out, char c) {
  if (const char letter = base::escape_letter(c); letter != 0) {
    out += '\\';
    out += letter;
  } else {
    fmt::format_to(std::back_inserter(out), "\\x{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
}

std::string double_quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = base::utf8_length(text);
    const char c = text.front();
    if (length == 0) {
      out += base::kReplacement;
    } else if (length == 1) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x20 || byte == 0x7F || c == '"' || c == '\\') {
        append_escaped_byte(out, c);
      } else {
        out += c;
      }
    } else if (awkward(text.substr(0, length))) {
      fmt::format_to(std::back_inserter(out), "\\u{:04X}", base::code_point(text.substr(0, length)));
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out + "\"";
}

// Whether a block scalar (`|`) gives the text back exactly; it reads better than \n where it does.
bool fits_block(std::string_view text) {
  if (text.find('\n') == std::string_view::npos || text.front() == ' ' || text.front() == '\n') return false;
  if (text.ends_with("\n\n") || text.find(" \n") != std::string_view::npos || text.ends_with(' ')) return false;
  while (!text.empty()) {
    const std::size_t length = base::utf8_length(text);
    const auto byte = static_cast<unsigned char>(text.front());
    if (length == 0 || (byte < 0x20 && byte != '\n') || byte == 0x7F) return false;
    if (length > 1 && awkward(text.substr(0, length))) return false;
    text.remove_prefix(length);
  }
  return true;
}

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  void comment(std::string_view text, std::size_t indent) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      pad(indent);
      out_ += '#';
      if (end > 0) out_ += ' ';
      for (const char c : text.substr(0, end)) {
        const auto byte = static_cast<unsigned char>(c);
        out_ += byte < 0x20 || byte >= 0x7F ? '?' : c;
      }
      out_ += '\n';
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  // `started`: the first entry continues a line on which the dash of a list already stands.
  void map(const YamlOut& value, std::size_t indent, bool started) {
    for (const YamlOutEntry& entry : value.map) {
      if (!started) {
        comment(entry.comment, indent);
        pad(indent);
      }
      started = false;
      out_ += plain(entry.key, true) ? entry.key : double_quoted(entry.key);
      out_ += ':';
      after_key(entry.value, indent);
    }
  }

 private:
  void pad(std::size_t indent) { out_.append(indent, ' '); }

  void after_key(const YamlOut& value, std::size_t indent) {
    const bool nested = value.kind == YamlOut::Kind::kMap || value.kind == YamlOut::Kind::kList;
    if (!nested || value.empty()) {
      out_ += ' ';
      scalar(value, indent);
    } else {
      out_ += '\n';
      value.kind == YamlOut::Kind::kMap ? map(value, indent + 2, false) : list(value, indent + 2);
    }
  }

  void list(const YamlOut& value, std::size_t indent) {
    for (const YamlOut& each : value.list) {
      pad(indent);
      if (each.kind == YamlOut::Kind::kMap && !each.empty()) {
        out_ += "- ";
        map(each, indent + 2, true);
      } else if (each.kind == YamlOut::Kind::kList && !each.empty()) {
        out_ += "-\n";
        list(each, indent + 2);
      } else {
        out_ += "- ";
        scalar(each, indent);
      }
    }
  }

  // Also empty lists and maps.
  void scalar(const YamlOut& value, std::size_t indent) {
    switch (value.kind) {
      case YamlOut::Kind::kBare:
        out_ += value.text;
        break;
      case YamlOut::Kind::kList:
        out_ += "[]";
        break;
      case YamlOut::Kind::kMap:
        out_ += "{}";
        break;
      case YamlOut::Kind::kText:
        if (fits_block(value.text)) return block(value.text, indent + 2);
        out_ += yaml_scalar(value.text);
        break;
    }
    out_ += '\n';
  }

  void block(std::string_view text, std::size_t indent) {
    out_ += text.ends_with('\n') ? "|\n" : "|-\n";
    if (text.ends_with('\n')) text.remove_suffix(1);
    while (true) {
      const std::size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      if (!line.empty()) pad(indent);
      out_ += line;
      out_ += '\n';
      if (end == std::string_view::npos) break;
      text.remove_prefix(end + 1);
    }
  }

  std::string& out_;
};

}  // namespace

YamlOut YamlOut::of(std::string text) {
  YamlOut made;
  made.kind = Kind::kText;
  made.text = std::move(text);
  return made;
}

YamlOut YamlOut::bare(std::string words) {
  YamlOut made;
  made.kind = Kind::kBare;
  made.text = std::move(words);
  return made;
}

YamlOut YamlOut::of_list() {
  YamlOut made;
  made.kind = Kind::kList;
  return made;
}

YamlOut YamlOut::of_map() {
  return {};
}

bool YamlOut::empty() const {
  return list.empty() && map.empty();
}

YamlOut& YamlOut::set(std::string key, YamlOut value, std::string comment) {
  map.push_back({std::move(key), std::move(value), std::move(comment)});
  return *this;
}

YamlOut& YamlOut::add(YamlOut value) {
  list.push_back(std::move(value));
  return *this;
}

const YamlOut* YamlOut::find(std::string_view key) const {
  const auto found = std::ranges::find(map, key, &YamlOutEntry::key);
  return found == map.end() ? nullptr : &found->value;
}

YamlOut* YamlOut::find(std::string_view key) {
  const auto found = std::ranges::find(map, key, &YamlOutEntry::key);
  return found == map.end() ? nullptr : &found->value;
}

std::size_t YamlOut::nodes() const {
  std::size_t count = 1;
  for (const YamlOut& each : list) count += each.nodes();
  for (const YamlOutEntry& each : map) count += 1 + each.value.nodes();
  return count;
}

std::string write_yaml(const YamlOut& root, std::string_view head) {
  std::string out;
  Writer writer(out);
  writer.comment(head, 0);
  writer.map(root, 0, false);
  return out;
}

std::string yaml_scalar(std::string_view text) {
  return plain(text, false) ? std::string(text) : double_quoted(text);
}

}  // namespace muster::authoring
