// Which way a run shows itself, and with which signs: from what the user asked for and what surrounds the
// process. The choice is pure; look_around() asks the system.
#pragma once

#include <cstdint>
#include <string>

namespace muster::console {

enum class UiMode : std::uint8_t { kFull, kCi, kNone };

struct Surroundings {
  bool out_terminal = false;  // standard output
  bool error_terminal = false;
  bool foreground = true;  // the terminal is there for this process
  std::string term;        // TERM
  std::string ci;          // CI
  std::string locale;      // the first of LC_ALL, LC_CTYPE and LANG that is set
};

Surroundings look_around();

// `asked`: auto, full, ci or none.
UiMode choose_ui(const std::string& asked, const Surroundings& around);

bool unicode_wanted(const Surroundings& around);  // the locale is one of UTF-8

}  // namespace muster::console
