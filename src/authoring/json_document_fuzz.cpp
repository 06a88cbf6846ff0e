// Any text as JSON: the document and the scanner agree on every value of a valid text; on other text neither goes
// wrong. What is valid the grammar says.
// covers: authoring/json_document.h authoring/json_document.cpp authoring/json_scan.h authoring/json_scan.cpp
// covers: authoring/json_write.h authoring/json_grammar.h authoring/json_grammar.cpp
#include <string>
#include <string_view>

#include "authoring/json_document.h"
#include "authoring/json_grammar.h"
#include "authoring/json_scan.h"
#include "authoring/options.h"
#include "authoring/value_text.h"
#include "base/fuzzing.h"

namespace muster {

namespace {

using authoring::Path;
using model::Value;
using model::ValueType;

bool same(const Value& left, const Value& right, base::Arena& arena) {
  if (left.type() != right.type()) return false;
  switch (left.type()) {
    case ValueType::kBool:
      return left.boolean() == right.boolean();
    case ValueType::kInteger:
      return left.integer() == right.integer();
    case ValueType::kNumber:
      return left.number() == right.number();
    case ValueType::kText:
      return left.text() == right.text();
    case ValueType::kJson: {
      // What the document writes is JSON again.
      authoring::JsonDocument again;
      static_cast<void>(authoring::same_json(left.text(), right.text()));
      return again.parse(left.text()) && again.find({}, arena).text() == left.text();
    }
    default:
      return true;
  }
}

const Path kPaths[] = {
    {}, {"a"}, {std::int64_t{0}}, {std::int64_t{-1}}, {"a", std::int64_t{1}, "b"}, {"a", std::int64_t{-2}}};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = base::text_of(data, size);
  static authoring::JsonDocument document;
  base::BlockPool pool;
  base::Arena arena(pool);
  const bool valid = document.parse(text);
  for (const Path& path : kPaths) {
    const Value found = document.find(path, arena);
    const Value scanned = authoring::find_in_json(text, path, arena);
    base::require(valid || found.missing());
    base::require(!valid || same(found, scanned, arena));
  }
  // All that is JSON by its grammar is taken, and nothing else.
  const bool marked = text.starts_with(authoring::kByteOrderMark);
  const std::string_view bare = marked ? text.substr(authoring::kByteOrderMark.size()) : text;
  const auto fault = authoring::json_fault(bare, authoring::kJsonLimits.depth);
  base::require(valid != fault.has_value());
  base::require(valid || document.fault() == *fault);
  return 0;
}

}  // namespace muster
