#include "protocol/cookie_date.h"

#include <array>

#include "base/characters.h"
#include "protocol/http1_scan.h"

namespace muster::protocol {
namespace {

constexpr bool is_delimiter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == 0x09 || (byte >= 0x20 && byte <= 0x2f) || (byte >= 0x3b && byte <= 0x40) ||
         (byte >= 0x5b && byte <= 0x60) || (byte >= 0x7b && byte <= 0x7e);
}

// Between `least` and `most` digits at the start of `text`, then none; removes them.
std::optional<int> take_number(std::string_view& text, std::size_t least, std::size_t most) {
  int value = 0;
  std::size_t count = 0;
  while (count < text.size() && base::is_digit(text[count])) {
    if (++count > most) return std::nullopt;
    value = value * 10 + (text[count - 1] - '0');
  }
  if (count < least) return std::nullopt;
  text.remove_prefix(count);
  return value;
}

std::optional<std::chrono::seconds> time_of_day(std::string_view token) {
  std::array<int, 3> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::optional<int> part = take_number(token, 1, 2);
    if (!part) return std::nullopt;
    parts[i] = *part;
    if (i == 2) break;
    if (!token.starts_with(':')) return std::nullopt;
    token.remove_prefix(1);
  }
  if (parts[0] > 23 || parts[1] > 59 || parts[2] > 59) return std::nullopt;
  return std::chrono::hours(parts[0]) + std::chrono::minutes(parts[1]) + std::chrono::seconds(parts[2]);
}

std::optional<unsigned> month_of(std::string_view token) {
  constexpr std::array<std::string_view, 12> kNames = {"jan", "feb", "mar", "apr", "may", "jun",
                                                       "jul", "aug", "sep", "oct", "nov", "dec"};
  for (unsigned i = 0; i < kNames.size(); ++i) {
    if (scan::equals_ignoring_case(token.substr(0, 3), kNames[i])) return i + 1;
  }
  return std::nullopt;
}

struct Parts {
  std::optional<std::chrono::seconds> time;
  std::optional<int> day;
  std::optional<unsigned> month;
  std::optional<int> year;

  // Each token is what it fits first among the parts still missing, in the order of the standard.
  void add(std::string_view token) {
    if (!time && (time = time_of_day(token))) return;
    std::string_view rest = token;
    if (!day && (day = take_number(rest, 1, 2))) return;
    if (!month && (month = month_of(token))) return;
    rest = token;
    if (!year) year = take_number(rest, 2, 4);
  }
};

}  // namespace

std::optional<std::chrono::sys_seconds> parse_cookie_date(std::string_view text) {
  Parts parts;
  while (!text.empty()) {
    std::size_t size = 0;
    while (size < text.size() && !is_delimiter(text[size])) ++size;
    if (size != 0) parts.add(text.substr(0, size));
    text.remove_prefix(size == text.size() ? size : size + 1);
  }
  if (!parts.time || !parts.day || !parts.month || !parts.year) return std::nullopt;
  int year = *parts.year;
  if (year >= 70 && year <= 99) year += 1900;
  if (year >= 0 && year <= 69) year += 2000;
  if (year < 1601) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(year), std::chrono::month(*parts.month),
                                         std::chrono::day(static_cast<unsigned>(*parts.day)));
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + *parts.time;
}

}  // namespace muster::protocol
