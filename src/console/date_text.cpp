#include "console/date_text.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "base/units.h"

namespace muster::console {
namespace {

// The digits of `text` from `at` on, exactly `size` of them.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t size) {
  if (text.size() < at + size) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(at, size)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

std::optional<base::Duration> date(std::string_view text) {
  const auto year = digits(text, 0, 4);
  const auto month = digits(text, 5, 2);
  const auto day = digits(text, 8, 2);
  if (!year || !month || !day || text[4] != '-' || text[7] != '-') return std::nullopt;
  const std::chrono::year_month_day whole{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                          std::chrono::day(static_cast<unsigned>(*day))};
  if (!whole.ok() || *year < 1970 || *year > 2200) return std::nullopt;
  base::Duration moment = std::chrono::sys_days(whole).time_since_epoch();
  if (text.size() == 10) return moment;
  const auto hour = digits(text, 11, 2);
  const auto minute = digits(text, 14, 2);
  if (!hour || !minute || text.size() != 16 || (text[10] != 'T' && text[10] != ' ') || text[13] != ':') {
    return std::nullopt;
  }
  if (*hour > 23 || *minute > 59) return std::nullopt;
  return moment + std::chrono::hours(*hour) + std::chrono::minutes(*minute);
}

}  // namespace

base::Expected<base::Duration> parse_moment(std::string_view text, base::Duration now) {
  if (const auto moment = date(text)) return *moment;
  if (const auto age = base::parse_duration(text); age && *age >= base::Duration::zero() && *age < now)
    return now - *age;
  return base::fail(fmt::format(
      "expected a date such as 2026-11-15 or 2026-11-15T10:00 (UTC), or an age such as 30d; found '{}'", text));
}

}  // namespace muster::console
