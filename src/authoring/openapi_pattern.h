// A text that matches a regular expression (ECMA 262, as schemas write them): for the simple ones that people give ids
// and codes. Made by construction, nothing is matched. Pure; bounded in depth and size.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace muster::authoring {

// Between `least` and `most` characters long. Nothing where the pattern has what is not simple (look-around, references
// back, properties of characters), is wrong, or allows no such length that is easily found.
std::optional<std::string> matching_text(std::string_view pattern, std::size_t least, std::size_t most);

}  // namespace muster::authoring
