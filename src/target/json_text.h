// Writes JSON strings. Bytes that are not UTF-8 become the code point of the same number, so that the result is valid
// JSON whatever a client sent. Pure.
#pragma once

#include <string>
#include <string_view>

namespace muster::target {

// With the quotes.
void append_json(std::string& out, std::string_view text);

}  // namespace muster::target
