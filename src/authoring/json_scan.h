// Reads single values out of JSON text where it lies: no copy, no parser, no allocation but unescaped strings. For the
// small texts in a VU's slots, of which an expression wants one value; responses go through JsonDocument, which checks
// the whole text (simdjson would need a padded copy and a parser here). On text that is no JSON it yields missing
// values or whatever stands at the place, never more.
#pragma once

#include <optional>
#include <string_view>

#include "authoring/arena_text.h"
#include "authoring/scope.h"
#include "base/arena.h"
#include "model/value.h"

namespace muster::authoring {

// The value at `path` inside `json`, or missing. Arrays and objects come as they stand in the text.
model::Value find_in_json(std::string_view json, const Path& path, base::Arena& arena);

// One JSON value with its type; text without escapes is a view into `raw`. A number that no machine number holds comes
// as the nearest double, half a surrogate pair as U+FFFD.
model::Value json_value(std::string_view raw, base::Arena& arena);

// Walks over the elements of an array, or over the keys of an object (as JSON strings).
class JsonElements {
 public:
  explicit JsonElements(std::string_view json);

  bool next(std::string_view& element);
  bool object() const { return close_ == '}'; }
  std::string_view value() const { return value_; }  // of the latest key; objects only

 private:
  std::string_view rest_;
  std::string_view value_;
  char close_ = 0;  // 0: neither array nor object, or broken
  bool first_ = true;
};

// `json`, which is JSON, without white space and with strings and numbers as append_as_json() writes them. Numbers that
// no machine number holds stay as they are written.
void append_compact(ArenaText& out, std::string_view json);

// Whether two JSON texts differ in nothing but white space between their tokens.
bool same_json(std::string_view left, std::string_view right);

}  // namespace muster::authoring
