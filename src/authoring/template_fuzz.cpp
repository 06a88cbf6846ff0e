// Any text as a template, for every place that escapes: what a header gets has no line break, and what a JSON string
// gets does not end it.
// covers: authoring/text_template.h authoring/text_template.cpp authoring/holes.h authoring/holes.cpp
#include <string>
#include <string_view>

#include "authoring/json_document.h"
#include "authoring/test_scope.h"
#include "authoring/text_template.h"
#include "base/fuzzing.h"

namespace muster {

namespace {

using authoring::Escape;
using authoring::Literals;
using base::require;

void check_place(const std::string& out, Escape escape, Literals literals) {
  require(escape != Escape::kHeader || out.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos);
  if (escape != Escape::kPath && escape != Escape::kQuery) return;
  // A whole value of a URL, and a URL whose literals were repaired, can stand on a request line.
  if (literals == Literals::kEscaped) require(out.find_first_of(" ?&=#\"<>\r\n") == std::string::npos);
  if (literals == Literals::kRepaired) require(out.find_first_of(" #\"<>\r\n\t") == std::string::npos);
}

// Only the hole is escaped, so that it is tried alone.
void check_escapes(const model::Value& value) {
  std::string out;
  if (!authoring::append_value(out, value, Escape::kQuery)) return;
  require(out.find_first_of(" /?&=#\"<>\r\n") == std::string::npos);
  out.clear();
  authoring::append_value(out, value, Escape::kJson);
  for (const char c : out) require(static_cast<unsigned char>(c) >= 0x20);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = base::text_of(data, size);
  authoring::TestScope scope;
  scope.add("t", model::Value::of(text));
  scope.add("m", model::Value());
  scope.add("a", model::Value::of(1.5));
  scope.add("json", model::Value::json(R"({"a": [1, 2]})"));
  check_escapes(model::Value::of(text));
  for (const Escape escape : {Escape::kNone, Escape::kPath, Escape::kQuery, Escape::kHeader, Escape::kJson}) {
    for (const Literals literals : {Literals::kAsWritten, Literals::kEscaped, Literals::kRepaired}) {
      const auto made = authoring::TextTemplate::compile(text, scope, escape, literals);
      if (!made) {
        require(!made.error().message.empty() && made.error().offset <= size);
        continue;
      }
      std::string out;
      if (made->render(scope.evaluation(), out)) check_place(out, escape, literals);
      const auto value = made->value(scope.evaluation());
      // Literals are rendered in the same way by both.
      require(!value || made->single_hole() || !made->constant() || value->text() == out);
      std::string json;
      if (value) authoring::append_json(json, *value);
      scope.arena().reset();
    }
  }
  return 0;
}

}  // namespace muster
