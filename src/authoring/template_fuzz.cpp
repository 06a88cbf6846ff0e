// Any text as a template, for every place that escapes: what a header gets has no line break, and what a JSON string
// gets does not end it.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "authoring/json_document.h"
#include "authoring/test_scope.h"
#include "authoring/text_template.h"

namespace muster {

namespace {

using authoring::Escape;

void check_place(const std::string& out, Escape escape) {
  if (escape == Escape::kHeader && out.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) std::abort();
}

// Only the hole is escaped, so that it is tried alone.
void check_escapes(const model::Value& value) {
  std::string out;
  if (!authoring::append_value(out, value, Escape::kQuery)) return;
  if (out.find_first_of(" /?&=#\"<>\r\n") != std::string::npos) std::abort();
  out.clear();
  authoring::append_value(out, value, Escape::kJson);
  for (const char c : out) {
    if (static_cast<unsigned char>(c) < 0x20) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  authoring::TestScope scope;
  scope.add("t", model::Value::of(text));
  scope.add("m", model::Value());
  scope.add("a", model::Value::of(1.5));
  scope.add("json", model::Value::json(R"({"a": [1, 2]})"));
  check_escapes(model::Value::of(text));
  for (const Escape escape : {Escape::kNone, Escape::kPath, Escape::kQuery, Escape::kHeader, Escape::kJson}) {
    const auto made = authoring::TextTemplate::compile(text, scope, escape);
    if (!made) {
      if (made.error().message.empty() || made.error().offset > size) std::abort();
      continue;
    }
    std::string out;
    if (made->render(scope.evaluation(), out)) check_place(out, escape);
    const auto value = made->value(scope.evaluation());
    // Literals are rendered in the same way by both.
    if (value && !made->single_hole() && made->constant() && value->text() != out) std::abort();
    std::string json;
    if (value) authoring::append_json(json, *value);
    scope.arena().reset();
  }
  return 0;
}

}  // namespace muster
