// StepKind: all that muster knows about a kind of step before it runs one. The YAML loader, the JSON Schema, the
// documentation, the Lua binding and `muster explain` are all made from these descriptors, so that a new protocol is
// one descriptor, one codec and one client, and edits nothing else. Plain values; registries are built once and then
// only read.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "model/where.h"

namespace muster::model {

struct Step;
struct Target;

enum class FieldType : std::uint8_t {
  kText,        // a string, may hold ${…} if `holes`
  kPath,        // a file; loaded as a path that is resolved against the file that names it
  kExpression,  // an expression of its own, such as `stock.value > 0`
  kBool,
  kInteger,
  kNumber,
  kDuration,       // "300ms"; loaded as integer nanoseconds
  kDurationRange,  // "1s..3s" or "2s"; loaded as a list of two integers of nanoseconds
  kSize,           // "10KB"; loaded as integer bytes
  kChoice,         // one of `choices`
  kTextMap,        // map of name to text (scalars become text), may hold ${…} if `holes`
  kExpressionMap,  // map of name to expression text or scalar
  kTextList,       // list of text; a single text counts as a list of one
  kRanges,         // list of integers and "200..299"; loaded as a list of two-integer lists
  kTree,           // anything; texts inside may hold ${…} if `holes`
  kSteps,          // a list of steps, which become a branch of this step
  kBranches,       // `parallel`: each element of the list is a branch; `choose`: a list of {weight, steps}
};

struct Field {
  std::string_view name;
  FieldType type = FieldType::kText;
  std::string_view doc;                                // one sentence
  std::string_view fallback = {};                      // the default, as one would write it in YAML; empty: none
  std::string_view unit = {};                          // "ns", "bytes", "requests"; empty: none
  double min = std::numeric_limits<double>::lowest();  // bounds of numbers, durations (in seconds) and sizes
  double max = std::numeric_limits<double>::max();
  std::vector<std::string_view> choices = {};
  bool required = false;
  bool holes = false;
  bool repeats = false;  // kTextMap: a list gives a name several times, and null is told from the empty text
};

struct ResultField {
  std::string_view name;
  FieldType type = FieldType::kText;  // kTree: may be followed by a path into JSON; kTextMap: by a name
  std::string_view doc;
};

// A key that stands for the kind with one of its fields already given: `get: /x` is http with method GET and url /x.
struct Shorthand {
  std::string_view key;
  std::string_view field = {};
  std::string_view value = {};
};

// What a kind's own checks are given: where to tell what is wrong, and a look at files. Valid during the call only.
struct Inspection {
  std::function<void(const Where&, std::string message)> report;
  // Why the file that is named at that place cannot be read, or nothing.
  std::function<std::string(const Where&, const std::string& path)> file_problem;
};

enum class StepRole : std::uint8_t { kTest, kCheck, kMetric, kAction, kControl };
std::string_view to_text(StepRole role);

struct StepKind {
  std::string_view name;
  std::string_view doc;
  StepRole role = StepRole::kTest;
  std::vector<Field> fields = {};
  std::vector<ResultField> results = {};
  std::vector<Field> target_fields = {};  // options of a target of this kind, beside its address
  std::string_view primary = {};  // the field that a bare value under the kind's key fills; empty: only a map is taken
  std::vector<Shorthand> shorthands = {};
  bool inline_fields = false;  // its other fields stand beside the kind's key in the step (all shorthands do so too)
  std::string_view example = {};
  // What the types of the fields cannot say: called by the loader for each step, and each target, of this kind.
  void (*inspect_step)(const Step& step, const Inspection& inspection) = nullptr;
  void (*inspect_target)(const Target& target, const Inspection& inspection) = nullptr;

  const Field* field(std::string_view field_name) const {
    for (const Field& each : fields) {
      if (each.name == field_name) return &each;
    }
    return nullptr;
  }
};

class StepKinds {
 public:
  void add(StepKind kind) { kinds_.push_back(std::move(kind)); }
  const std::vector<StepKind>& all() const { return kinds_; }

  // By the kind's own name; null if there is none.
  const StepKind* find(std::string_view name) const {
    for (const StepKind& kind : kinds_) {
      if (kind.name == name) return &kind;
    }
    return nullptr;
  }

 private:
  std::vector<StepKind> kinds_;
};

// The kinds that muster itself brings: control and actions (control_kinds.cpp), http (http_kind.cpp).
StepKinds built_in_kinds();

}  // namespace muster::model
