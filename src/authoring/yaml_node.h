// A YAML document as it was written: plain scalars keep their text, so that `1.10`, `200/s` and `on` mean what they say
// where they are read, and every key and value keeps its place. Made by yaml_tree, changed by includes and --set, read
// by the loader, then dropped; plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/tree.h"
#include "model/where.h"

namespace muster::authoring {

struct YamlEntry;

struct YamlNode {
  enum class Kind : std::uint8_t { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  bool plain = true;  // a scalar without quotes, which may mean a number or a truth value
  model::Where where;
  std::string text;  // of a scalar
  std::vector<YamlNode> list;
  std::vector<YamlEntry> map;  // in written order, keys unique

  bool null() const { return kind == Kind::kNull; }
  bool is_scalar() const { return kind == Kind::kScalar; }
  bool is_list() const { return kind == Kind::kList; }
  bool is_map() const { return kind == Kind::kMap; }

  const YamlEntry* entry(std::string_view key) const;
  const YamlNode* find(std::string_view key) const;
  YamlNode* find(std::string_view key);
};

struct YamlEntry {
  std::string key;
  model::Where key_where;
  YamlNode value;
};

// "a list", "a map", "'30x'": what was found, for messages.
std::string describe(const YamlNode& node);

// Whether a scalar that is no integer is one that is too large: digits and nothing else, the first of them no 0.
bool too_large(const YamlNode& node);

// "; leave out the quotes" where a quoted text would be a number or a truth value without them; otherwise empty.
std::string_view quotes_advice(const YamlNode& node);
// The same where a number is expected, and "; leave out the leading zero: 10" for 010.
std::string number_advice(const YamlNode& node);

// Plain scalars become null, truth values, integers and numbers by the rules of YAML 1.2's core schema (but `007` stays
// text); all else as it is.
model::Tree to_tree(const YamlNode& node);

}  // namespace muster::authoring
