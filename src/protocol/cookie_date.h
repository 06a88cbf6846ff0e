// The forgiving date format of the Expires attribute (RFC 6265 section 5.1.1).
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace muster::protocol {

// Nothing if `text` lacks a day, month, year or time, or names a date that does not exist.
std::optional<std::chrono::sys_seconds> parse_cookie_date(std::string_view text);

}  // namespace muster::protocol
