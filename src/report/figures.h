// Numbers as people read them in a terminal: three significant digits, a unit, a width that a column can count on.
// None of them rounds a small failure to nothing or a near miss to all. Pure; `unicode` false gives plain ASCII.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace muster::report {

std::string grouped(std::uint64_t number);                        // 1,234,567
std::string short_count(std::uint64_t number);                    // at most 7 columns: 999,999, 1.23M, 45.6G
std::string short_rate(double per_second);                        // at most 6 columns: 0.25, 42.7, 4,273, 1.23M
std::string short_time(base::Duration duration, bool unicode);    // at most 6 columns: 850ns, 12.3µs, 1.98ms, 1m02s
std::string clock_time(base::Duration duration);                  // 00:15, 1:02:03; fractions are cut off
std::string percentage(std::uint64_t part, std::uint64_t whole);  // at most 6 columns: 0%, <0.01%, 1.5%, >99.9%, 100%
std::string size_text(std::uint64_t bytes);                       // 950 B, 24.1 MB
std::string plain_number(double number);                          // 4 significant digits, no exponent below a billion

}  // namespace muster::report
