// The text of a job, or anything else. Masking must keep its lines and must take out a password that follows it. The
// text itself as a password, however it is quoted, and as the user of an address must not be shown.
// covers: report/source_mask.cpp
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/fuzzing.h"
#include "report/source_mask.h"

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
  const std::string masked = masked_source(block);
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
  require(masked_source("{\"password\":\"" + escaped(line, "\\\"", '\\') + "\",\"n\":1}") ==
          "{\"password\":\"***\",\"n\":1}");
  require(masked_source("  pwd: '" + escaped(line, "'", '\'') + "' # why") == "  pwd: '***' # why");
  const std::string user = without(line, "/?# \t\r\"'");
  if (user.contains("${")) return;
  require(masked_source("target: https://" + user + "@shop.test/a") == "target: https://***@shop.test/a");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = base::text_of(data, size);
  const std::string masked = masked_source(input);
  require(std::ranges::count(masked, '\n') == std::ranges::count(input, '\n'));
  require(masked_source(std::string(input) + "\npassword: kept-from-you").ends_with("\npassword: ***"));
  require_hidden(input);
  return 0;
}

}  // namespace muster::report
