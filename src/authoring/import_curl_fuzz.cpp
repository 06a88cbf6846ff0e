// The first byte chooses what the rest is. A shell text or the words of a command: imported or refused, and what is
// made loads. A body: whatever it holds, it comes through the shell, the file and the loader as it was.
// covers: authoring/import_curl.cpp authoring/import_curl_flags.cpp authoring/import_curl_globs.cpp
// covers: authoring/import_curl_words.cpp authoring/import_draft.cpp authoring/yaml_writer.cpp
#include <string>
#include <string_view>

#include "authoring/import_curl_words.h"
#include "authoring/import_fuzz_check.h"
#include "authoring/test_scope.h"
#include "authoring/text_template.h"

namespace muster::authoring {
namespace {

using base::require;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t end = 0; end != std::string_view::npos; text.remove_prefix(std::min(end + 1, text.size()))) {
    end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
  }
  return lines;
}

std::string in_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

void check_words(std::string_view text) {
  const auto split = split_shell("curl " + in_quotes(text), {});
  require(split && split->commands.size() == 1 && split->commands.front().words.size() == 2);
  require(split->commands.front().words.back() == text);
  // A here-document that nothing in it ends.
  for (const std::string& line : lines_of(text)) {
    if (line == "END") return;
  }
  if (text.find('\r') != std::string_view::npos) return;
  const auto here = split_shell("curl <<'END'\n" + std::string(text) + "\nEND\n", {});
  require(here && here->commands.size() == 1 && here->commands.front().has_input);
  require(here->commands.front().input == std::string(text) + "\n");
}

void check_body(std::string_view text) {
  if (!base::is_utf8(text) || text.find('\0') != std::string_view::npos) return;
  check_words(text);
  ImportInput input;
  input.words = {"curl", "http://a.test/", "-H", "Content-Type: text/plain", "--data-raw", std::string(text)};
  const auto imported = check_import(curl_importer(), std::move(input));
  require(imported.has_value() && imported->made.variables.empty());
  const model::Tree* body = imported->job.workflows.front().steps.front().field("body");
  require(body != nullptr && body->text() != nullptr);
  TestScope scope;
  const auto made = TextTemplate::compile(*body->text(), scope, Escape::kNone);
  std::string sent;
  require(made && made->render(scope.evaluation(), sent) && sent == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text = base::text_of(data + 1, size - 1);
  if (data[0] % 4 == 2) {
    check_body(text);
    return 0;
  }
  ImportInput input;
  if (data[0] % 4 == 1) {
    input.words = lines_of(text);
    input.to_here = "../";
  } else {
    input.text = text;
  }
  check_import(curl_importer(), std::move(input));
  return 0;
}

}  // namespace muster::authoring
