#include "console/ui_mode.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/letter_case.h"
#include "console/screen/terminal.h"

namespace muster::console {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

Surroundings look_around() {
  Surroundings around;
  around.out_terminal = isatty(STDOUT_FILENO) == 1;
  around.error_terminal = isatty(STDERR_FILENO) == 1;
  around.foreground = !around.error_terminal || in_foreground(STDERR_FILENO);
  around.term = variable("TERM");
  around.ci = variable("CI");
  // POSIX, 8.2: in this order.
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (around.locale.empty()) around.locale = variable(name);
  }
  return around;
}

UiMode choose_ui(const std::string& asked, const Surroundings& around) {
  if (asked == "full") return UiMode::kFull;
  if (asked == "ci") return UiMode::kCi;
  if (asked == "none") return UiMode::kNone;
  const bool terminal = around.out_terminal && around.error_terminal && around.foreground;
  const bool able = !around.term.empty() && around.term != "dumb";
  const std::string ci = base::lower(around.ci);
  const bool build = !ci.empty() && ci != "false" && ci != "0";
  return terminal && able && !build ? UiMode::kFull : UiMode::kCi;
}

bool unicode_wanted(const Surroundings& around) {
  const std::string locale = base::lower(around.locale);
  return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
}

}  // namespace muster::console
