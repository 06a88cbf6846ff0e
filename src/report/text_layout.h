// Text in columns of a terminal: what a text takes, how it is cut and wrapped. Texts may come from servers and users:
// printable() must stand before anything that is printed, so that no control character reaches the terminal. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster::report {

// Control characters and bytes that are no UTF-8 become '.'; line ends and tabs become spaces; without `unicode` every
// character beyond ASCII becomes '?'.
std::string printable(std::string_view text, bool unicode);

// The first character of a text that is not empty. Bytes that are no UTF-8 are one invalid glyph each.
struct Glyph {
  char32_t value = 0;
  std::size_t bytes = 1;    // that it takes in the text
  std::size_t columns = 1;  // that it takes on a screen: 0, 1 or 2
  bool valid = false;
};
Glyph first_glyph(std::string_view text);

// Columns of printable text: wide East Asian characters and emoji take two, combining marks none.
std::size_t width(std::string_view text);

// At most `columns` wide; what is too long loses its middle, since names differ at their ends.
std::string shortened(std::string_view text, std::size_t columns, bool unicode);
// The same for sentences, which lose their end.
std::string truncated(std::string_view text, std::size_t columns, bool unicode);

// Breaks at spaces into lines of at most `columns`; a word that is too long is cut.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

std::string left(std::string_view text, std::size_t columns);   // text, then spaces
std::string right(std::string_view text, std::size_t columns);  // spaces, then text

}  // namespace muster::report
