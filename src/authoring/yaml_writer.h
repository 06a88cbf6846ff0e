// Writes YAML that our own loader reads back to the same values: the other direction of yaml_tree.h. Pure. Every text
// is quoted as its content needs, so that what comes from outside stays what it was; it never becomes a number, a truth
// value, a comment or a key. Text must be UTF-8: bytes that are not become U+FFFD.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::authoring {

struct YamlOutEntry;

// A value to be written; built once, then handed to write_yaml.
struct YamlOut {
  enum class Kind : std::uint8_t {
    kText,  // any text: quoted where it must be
    kBare,  // written as it stands: numbers, `null`, small flow maps; the caller's own words, nothing from outside
    kList,
    kMap,
  };

  Kind kind = Kind::kMap;
  std::string text;
  std::vector<YamlOut> list;
  std::vector<YamlOutEntry> map;

  static YamlOut of(std::string text);
  static YamlOut bare(std::string words);
  static YamlOut of_list();
  static YamlOut of_map();

  // Appends to a map; `comment` goes on lines before the entry.
  YamlOut& set(std::string key, YamlOut value, std::string comment = {});
  // Appends to a list.
  YamlOut& add(YamlOut value);

  const YamlOut* find(std::string_view key) const;
  YamlOut* find(std::string_view key);
  bool empty() const;  // neither items nor entries

  // Scalars, lists and maps, itself counted.
  std::size_t nodes() const;
};

struct YamlOutEntry {
  std::string key;
  YamlOut value;
  std::string comment;
};

// `root` is a map. `head` is a comment of one or more lines at the top.
std::string write_yaml(const YamlOut& root, std::string_view head = {});

// One text as a scalar on one line.
std::string yaml_scalar(std::string_view text);

}  // namespace muster::authoring
