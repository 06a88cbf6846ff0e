// Any text as an expression and as a check: compiling tells what is wrong within the text, evaluating never fails, and
// a constant is the same each time.
// covers: authoring/token.h authoring/token.cpp authoring/parser.h authoring/parser.cpp authoring/node.h
// covers: authoring/parser_primary.cpp authoring/expression.cpp authoring/evaluate.cpp authoring/compare.cpp
// covers: authoring/check_condition.cpp authoring/functions.cpp authoring/functions_text.cpp
// covers: authoring/functions_hash.cpp authoring/path.cpp authoring/json_scan.h authoring/json_scan.cpp
// covers: authoring/value_text.h authoring/value_text.cpp authoring/arena_text.h
#include <string>
#include <string_view>

#include "authoring/expression.h"
#include "authoring/test_scope.h"
#include "base/fuzzing.h"

namespace muster {

namespace {

using base::require;

void evaluate(const authoring::Expression& expression, authoring::TestScope& scope) {
  const model::Value value = expression.evaluate(scope.evaluation());
  const std::string first = authoring::shown(value);
  if (expression.constant()) {
    require(expression.holds(scope.evaluation()) == authoring::truthy(value));
    require(authoring::shown(expression.evaluate(scope.evaluation())) == first);
  }
  static_cast<void>(expression.holds(scope.evaluation()));
  scope.arena().reset();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = base::text_of(data, size);
  authoring::TestScope scope;
  scope.add("a", model::Value::of(std::int64_t{7}));
  scope.add("t", model::Value::of("text 12"));
  scope.add("n", model::Value::null());
  scope.add("m", model::Value());
  scope.add("json", model::Value::json(R"({"a": [1, {"b": "\u00e9\n"}, null], "c": 1.5e3, "d": "x"})"));
  // Text that is no JSON, where a path may look for some.
  scope.add("raw", model::Value::of(text));

  const auto expression = authoring::Expression::compile(text, scope);
  if (expression) evaluate(*expression, scope);
  require(expression || (!expression.error().message.empty() && expression.error().offset <= size));

  const auto check = authoring::Expression::compile_check("json.a", text, scope);
  if (check) evaluate(*check, scope);
  require(check || (!check.error().in_subject && check.error().offset <= size));
  const auto raw = authoring::Expression::compile_check("raw.a[1].b", text, scope);
  if (raw) evaluate(*raw, scope);
  return 0;
}

}  // namespace muster
