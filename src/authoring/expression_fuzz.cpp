// Any text as an expression and as a check: compiling tells what is wrong within the text, evaluating never fails.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "authoring/expression.h"
#include "authoring/test_scope.h"

namespace muster {

namespace {

void evaluate(const authoring::Expression& expression, authoring::TestScope& scope) {
  static_cast<void>(expression.evaluate(scope.evaluation()));
  static_cast<void>(expression.holds(scope.evaluation()));
  scope.arena().reset();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
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
  if (!expression && (expression.error().message.empty() || expression.error().offset > size)) std::abort();

  const auto check = authoring::Expression::compile_check("json.a", text, scope);
  if (check) evaluate(*check, scope);
  if (!check && (check.error().in_subject || check.error().offset > size)) std::abort();
  const auto raw = authoring::Expression::compile_check("raw.a[1].b", text, scope);
  if (raw) evaluate(*raw, scope);
  return 0;
}

}  // namespace muster
