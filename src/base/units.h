// Quantities as people write them: 300ms, 1m30s, 10KB, 4MiB, 200/s, 1%. Parsing tells what would have been right;
// formatting is for people and rounds. Pure, no locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"

namespace muster::base {

// "300ms", "1.5s", "1m30s", "2h", "10us": units ns us µs ms s m h d, largest first where there are several. A bare 0 is
// a time too; any other bare number is refused, because its unit would be a guess.
Expected<Duration> parse_duration(std::string_view text);

// "512", "10KB" (1000s), "10KiB" (1024s), up to TB and TiB; "B" is allowed. Bytes; fractions of a byte are refused.
Expected<std::uint64_t> parse_size(std::string_view text);

// "200/s", "12/m", "0.5/h", "3/100ms", or a bare number: per second. Never negative. Result: per second.
Expected<double> parse_rate(std::string_view text);

// "1%", "99.9%": as a fraction.
Expected<double> parse_percent(std::string_view text);

// A number at the start of `text` as the expression language and the functions above read it: digits, at most one
// point, an exponent. Returns how many characters it takes; 0 where there is none.
std::size_t number_length(std::string_view text);

// The whole of `text` as a decimal number: an optional '-', digits, a fraction, an exponent; nothing else.
std::optional<double> parse_number(std::string_view text);

// "850 ns", "12.3 µs", "300 ms", "1.50 s", "1m 30s", "2h 5m": three significant digits below a minute.
std::string format_duration(Duration duration);

// "512 B", "1.50 KiB", "12.3 MiB".
std::string format_size(std::uint64_t bytes);

// "950", "12.3k", "4.56M": three significant digits from a thousand on; fewer than that as a plain number.
std::string format_count(double count);

}  // namespace muster::base
