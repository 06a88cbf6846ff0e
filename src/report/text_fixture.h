// For tests: looks into the texts that this room writes.
#pragma once

#include <cstddef>
#include <string_view>

namespace muster::report::test {

// How often `part` stands in `text`.
inline std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace muster::report::test
