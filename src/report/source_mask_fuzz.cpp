// The text of a job, or anything else. Masking must keep its lines and must take out a password that follows it. The
// text itself as a password, however it is quoted, and as the user of an address must not be shown, in YAML, in JSON
// and in Lua. covers: report/source_mask.cpp report/lua_mask.cpp report/text_mask.cpp
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/fuzzing.h"
#include "report/source_mask.h"
#include "report/source_mask_parts.h"

namespace muster::report {
namespace {

using base::require;

std::string escaped(std::string_view text, std::string_view special, char escape) {
  std::string made;
  for (const char each : text) {
    if (special.contains(each)) made += escape;
    made += each;
  }
  return made;
}

std::string without(std::string_view text, std::string_view special) {
  std::string made;
  for (const char each : text) {
    if (!special.contains(each)) made += each;
  }
  return made;
}

// `key` and what is below it.
void require_hidden_below(const std::string& key, std::string_view text) {
  std::string block = key + "\n  ";
  for (const char each : text) block.append(1, each).append(each == '\n' ? "  " : "");
  const std::string masked = masked_yaml(block);
  require(masked.starts_with(key + "\n"));
  std::string_view rest = std::string_view(masked).substr(masked.find('\n') + 1);
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const std::string_view shown = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    require(shown.empty() || shown == "***");
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
}

void require_hidden(std::string_view text) {
  require_hidden_below("password: |", text);
  require_hidden_below("password:", text);
  const std::string line = without(text, "\n");
  if (line.contains("${")) return;  // it comes from elsewhere
  require(masked_yaml("{\"password\":\"" + escaped(line, "\\\"", '\\') + "\",\"n\":1}") ==
          "{\"password\":\"***\",\"n\":1}");
  require(masked_yaml("  pwd: '" + escaped(line, "'", '\'') + "' # why") == "  pwd: '***' # why");
  const std::string user = without(line, "/?# \t\r\"'");
  if (user.contains("${")) return;
  require(masked_yaml("target: https://" + user + "@shop.test/a") == "target: https://***@shop.test/a");
}

void require_hidden_in_lua(std::string_view text) {
  const std::string line = without(text, "\n");
  const std::string long_text = without(text, "]");
  if (line.contains("${") || long_text.contains("${")) return;  // it comes from elsewhere
  const std::string quoted = "\"" + escaped(line, "\\\"", '\\') + "\"";
  const auto hides = [](const std::string& before, const std::string& value, const std::string& after) {
    require(masked_lua(before + value + after) == before + "\"***\"" + after);
  };
  hides("local n = #t wrk.headers[\"Authorization\"] = ", quoted, " -- why");
  hides("f({ headers = { Cookie = ", quoted, ", n = 1 } })");
  hides("local user, password = nil, ", quoted, "\nlocal n = 'kept'");
  hides("set('password', ", quoted, ")");
  const std::string masked = masked_lua("t['x-api-key'] = [====[" + long_text + "]====]; n = 'kept'");
  require(masked.starts_with("t['x-api-key'] = [====[") && masked.ends_with("]====]; n = 'kept'"));
  require(without(masked, "*\n") == "t['x-api-key'] = [====[]====]; n = 'kept'");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = base::text_of(data, size);
  const std::string masked = masked_source(input);
  require(std::ranges::count(masked, '\n') == std::ranges::count(input, '\n'));
  require(masked_yaml(std::string(input) + "\npassword: kept-from-you").ends_with("\npassword: ***"));
  require_hidden(input);
  const std::string lua = masked_lua(input);
  require(std::ranges::count(lua, '\n') == std::ranges::count(input, '\n'));
  require_hidden_in_lua(input);
  return 0;
}

}  // namespace muster::report
