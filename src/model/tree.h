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
using TreeMap = std::vector<std::pair<std::string, Tree>>;

struct Tree {
  Where where;
  std::variant<std::monostate, bool, std::int64_t, double, std::string, TreeList, TreeMap> value;

  bool null() const { return std::holds_alternative<std::monostate>(value); }
  const bool* boolean() const { return std::get_if<bool>(&value); }
  const std::int64_t* integer() const { return std::get_if<std::int64_t>(&value); }
  const double* number() const { return std::get_if<double>(&value); }
  const std::string* text() const { return std::get_if<std::string>(&value); }
  const TreeList* list() const { return std::get_if<TreeList>(&value); }
  const TreeMap* map() const { return std::get_if<TreeMap>(&value); }

  // The value under `key` of a map, or null.
  const Tree* find(std::string_view key) const {
    if (const TreeMap* entries = map()) {
      for (const auto& [name, child] : *entries) {
        if (name == key) return &child;
      }
    }
    return nullptr;
  }
};

}  // namespace muster::model
