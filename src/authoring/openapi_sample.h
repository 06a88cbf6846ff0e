// Sample values from OpenAPI schemas: examples and defaults where the description has them, otherwise the simplest
// value that fits. Bounded in depth and size; circles of references end. Pure.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "authoring/import_json.h"
#include "authoring/options.h"

namespace muster::authoring {

class SchemaSampler {
 public:
  SchemaSampler(const ImportJson& document, const ImportLimits& limits) : document_(document), limits_(limits) {}

  // The object itself, or what its $ref leads to; a null value if that is not in this document or a circle.
  const ImportJson& resolved(const ImportJson& value) const;

  // A value for a request: what is read-only is left out. `name` is what doubts call it.
  ImportJson sample(const ImportJson& schema, std::string_view name = {});

  // What is known not to fit the schema, or cannot be known to, in the samples since the last call: "code (pattern …)".
  std::vector<std::string> take_doubts();

  // References that lead nowhere or to other files, met since the last call; each once.
  std::vector<std::string> take_unresolved() { return std::exchange(unresolved_, {}); }

  // Whether references to other files were met, and the first of them.
  const std::string& remote() const { return remote_; }

 private:
  const ImportJson& unresolved(const std::string& reference) const;
  ImportJson made(const ImportJson& schema, std::size_t depth);
  const ImportJson& counted(const ImportJson& value);
  ImportJson cut(std::string_view why);  // a null value, in place of one that would not end
  ImportJson composed(const ImportJson& schema, std::size_t depth);
  // `chosen` are the alternatives of `oneOf` and `anyOf` that the object shall fit.
  ImportJson object(const ImportJson& schema, std::size_t depth, std::span<const ImportJson* const> chosen = {});
  ImportJson array(const ImportJson& schema, std::size_t depth);
  ImportJson all_of(const ImportJson& schema, const ImportJson& all, std::size_t depth);
  ImportJson with_alternatives(const ImportJson& schema, std::size_t depth);
  void add_required(const ImportJson& schema, std::set<std::string>& names) const;
  std::string text(const ImportJson& schema);
  ImportJson number(const ImportJson& schema, bool integer);
  void doubt(std::string why);

  const ImportJson& document_;
  const ImportLimits& limits_;
  std::size_t nodes_ = 0;
  std::vector<const ImportJson*> under_way_;  // schemas that the value is inside of: one that comes again is a circle
  std::vector<std::string> names_;            // of the properties that the value is inside of
  std::vector<std::string> doubts_;
  std::string_view cut_;  // why the last value that was cut short was
  mutable std::vector<std::string> unresolved_;
  mutable std::string remote_;
};

// `example`, the first of `examples`, or a null value.
const ImportJson& example_of(const ImportJson& value);

}  // namespace muster::authoring
