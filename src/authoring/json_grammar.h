// JSON by its grammar (RFC 8259), for texts that the fast parser refuses: tells which of them are JSON all the same
// (numbers that no machine number holds, halves of surrogate pairs) and where the others go wrong. One pass; pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace muster::authoring {

// The byte order mark, which some servers put before a text.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// What is wrong with `text`, for people; nothing if it is JSON, nested at most `depth` levels deep.
std::optional<std::string> json_fault(std::string_view text, std::size_t depth);

// Length of the number at the start of `text`; 0 where there is none.
std::size_t json_number_length(std::string_view text);

}  // namespace muster::authoring
