// A configuration value as the user wrote it, with its place: scalars, lists and maps in written order. What a step's
// fields hold after loading. Text may contain ${…} holes; they are compiled later, where the names are known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/where.h"

namespace muster::model {

struct Tree;
using TreeList = std::vector<Tree>;
struct TreeEntry;
using TreeMap = std::vector<TreeEntry>;

struct Tree {
  Where where;
  std::variant<std::monostate, bool, std::int64_t, double, std::string, TreeList, TreeMap> value;
  Where key_where = {};  // of its name, if it is one of a kTextMap; otherwise unknown
  // A whole number that is too large for an integer, as it was written: `value` has lost some of its digits.
  std::string digits = {};

  bool null() const;
  const bool* boolean() const;
  const std::int64_t* integer() const;
  const double* number() const;
  const std::string* text() const;
  const TreeList* list() const;
  const TreeMap* map() const;

  // The value under `key` of a map, or null.
  const Tree* find(std::string_view key) const;
};

// Not a std::pair: asking what a pair of an incomplete Tree can do does not compile.
struct TreeEntry {
  std::string first;
  Tree second;

  TreeEntry() = default;
  TreeEntry(std::string_view key, Tree tree) : first(key), second(std::move(tree)) {}
};

inline bool Tree::null() const {
  return std::holds_alternative<std::monostate>(value);
}
inline const bool* Tree::boolean() const {
  return std::get_if<bool>(&value);
}
inline const std::int64_t* Tree::integer() const {
  return std::get_if<std::int64_t>(&value);
}
inline const double* Tree::number() const {
  return std::get_if<double>(&value);
}
inline const std::string* Tree::text() const {
  return std::get_if<std::string>(&value);
}
inline const TreeList* Tree::list() const {
  return std::get_if<TreeList>(&value);
}
inline const TreeMap* Tree::map() const {
  return std::get_if<TreeMap>(&value);
}
inline const Tree* Tree::find(std::string_view key) const {
  if (const TreeMap* entries = map()) {
    for (const auto& [name, child] : *entries) {
      if (name == key) return &child;
    }
  }
  return nullptr;
}

}  // namespace muster::model
