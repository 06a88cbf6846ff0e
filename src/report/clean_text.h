// Text from outside made fit for formats that take only some characters (XML 1.0, section 2.2; CSV readers). Pure.
#pragma once

#include <string>
#include <string_view>

namespace muster::report {

// Valid UTF-8: each byte that belongs to no character, each control character but tab and line ends, and U+FFFE and
// U+FFFF become U+FFFD.
std::string clean_text(std::string_view text);

// For an XML attribute or an element's text, quotes and line ends escaped too, so that they survive normalisation.
std::string xml_text(std::string_view text);

// One CSV cell by RFC 4180: in quotes where it must be. A cell that a spreadsheet would take for a formula, because it
// begins with = + - @, a tab or a carriage return, gets an apostrophe before it; for texts, not for numbers.
std::string csv_text(std::string_view text);

}  // namespace muster::report
