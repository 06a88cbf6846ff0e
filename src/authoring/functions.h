// The functions of the expression language. A function is one row of the table in functions.cpp; none keeps state, all
// that changes comes with the Evaluation.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "authoring/node.h"
#include "authoring/scope.h"
#include "model/value.h"

namespace muster::authoring {

using Arguments = std::span<const model::Value>;

struct Function {
  std::string_view name;
  std::string_view usage;  // "random(from, to)"
  std::uint8_t least = 0;
  std::uint8_t most = 0;
  bool pure = true;  // yields the same for the same arguments, so that constant calls are worked out once
  // No argument is missing when it is called. Null for kPick and kRegex, which are operations of their own.
  model::Value (*call)(const Evaluation& evaluation, Arguments arguments) = nullptr;
  Op op = Op::kCall;
};

std::span<const Function> functions();
const Function* find_function(std::string_view name);

// Rows of the table that have a source of their own (functions_text.cpp, functions_hash.cpp).
namespace call {
using model::Value;

Value upper(const Evaluation& evaluation, Arguments arguments);
Value lower(const Evaluation& evaluation, Arguments arguments);
Value trim(const Evaluation& evaluation, Arguments arguments);
Value length(const Evaluation& evaluation, Arguments arguments);
Value substr(const Evaluation& evaluation, Arguments arguments);
Value replace(const Evaluation& evaluation, Arguments arguments);
Value between(const Evaluation& evaluation, Arguments arguments);
Value urlencode(const Evaluation& evaluation, Arguments arguments);
Value json(const Evaluation& evaluation, Arguments arguments);
Value text(const Evaluation& evaluation, Arguments arguments);

Value base64(const Evaluation& evaluation, Arguments arguments);
Value base64url(const Evaluation& evaluation, Arguments arguments);
Value base64decode(const Evaluation& evaluation, Arguments arguments);
Value hex(const Evaluation& evaluation, Arguments arguments);
Value md5(const Evaluation& evaluation, Arguments arguments);
Value sha1(const Evaluation& evaluation, Arguments arguments);
Value sha256(const Evaluation& evaluation, Arguments arguments);
Value sha512(const Evaluation& evaluation, Arguments arguments);
Value hmac(const Evaluation& evaluation, Arguments arguments);

// A value as text: its own view where it is text, else written into the arena.
std::string_view as_text(const Evaluation& evaluation, const Value& value);

}  // namespace call
}  // namespace muster::authoring
