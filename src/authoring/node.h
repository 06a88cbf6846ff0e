// The compiled form of an expression: a tree that is walked to evaluate it. Private to the expression sources; made by
// the parser, never changed afterwards, read from every core.
#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "authoring/scope.h"
#include "model/value.h"

namespace muster::authoring {

enum class Op : std::uint8_t {
  kConstant,
  kSlot,
  kVu,
  kIteration,
  kList,
  kCoalesce,
  kOr,
  kAnd,
  kNot,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,
  kContains,
  kMatches,
  kExists,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kNegate,
  kPick,
  kRegex,
  kCall,
};

struct Function;

struct Node {
  struct Extra {
    std::string text;                   // what a constant's view points into
    Path rest;                          // kSlot
    std::unique_ptr<re2::RE2> pattern;  // kMatches and kRegex with a constant pattern
  };

  Op op = Op::kConstant;
  std::uint16_t depth = 1;  // of the tree below and including this node
  std::uint32_t slot = 0;
  model::Value value;  // kConstant
  const Function* function = nullptr;
  std::unique_ptr<Extra> extra;
  // kAdd, kAnd and kOr and kCoalesce take two or more, so that long chains stay flat.
  std::vector<std::unique_ptr<Node>> children;
};

using NodePointer = std::unique_ptr<Node>;

NodePointer make_constant(const model::Value& value);  // copies text

model::Value evaluate_node(const Node& node, const Evaluation& evaluation);

// Null with the reason in `why` where the pattern is wrong or too large.
std::unique_ptr<re2::RE2> compile_pattern(std::string_view pattern, std::string& why);

}  // namespace muster::authoring
