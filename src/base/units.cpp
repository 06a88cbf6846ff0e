#include "base/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/characters.h"

namespace muster::base {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

// In the order in which they may follow each other.
constexpr std::array kTimeUnits{Unit{"d", 86400}, Unit{"h", 3600},  Unit{"m", 60},    Unit{"s", 1},
                                Unit{"ms", 1e-3}, Unit{"us", 1e-6}, Unit{"µs", 1e-6}, Unit{"ns", 1e-9}};

constexpr std::array kSizeUnits{Unit{"", 1},         Unit{"B", 1},        Unit{"KB", 1e3},    Unit{"kB", 1e3},
                                Unit{"MB", 1e6},     Unit{"GB", 1e9},     Unit{"TB", 1e12},   Unit{"KiB", 0x1p10},
                                Unit{"MiB", 0x1p20}, Unit{"GiB", 0x1p30}, Unit{"TiB", 0x1p40}};

std::size_t digits_at(std::string_view text, std::size_t from) {
  std::size_t at = from;
  while (at < text.size() && is_digit(text[at])) ++at;
  return at - from;
}

double to_double(std::string_view digits) {
  double value = std::numeric_limits<double>::quiet_NaN();
  // Out of range leaves NaN (libstdc++ does not store a value), which every caller refuses.
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 40;
  if (text.empty()) return "nothing";
  return text.size() > kShown ? fmt::format("'{}…'", text.substr(0, kShown)) : fmt::format("'{}'", text);
}

std::unexpected<Error> not_a_duration(std::string_view text, std::string_view why) {
  return fail(fmt::format("expected a time such as 300ms, 5s, 1m30s or 2h, found {}{}", quoted(text), why));
}

// Length of the unit's name at the start of `text`: everything up to the next digit, point or space.
std::size_t unit_length(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && !is_digit(text[at]) && text[at] != '.' && text[at] != ' ' && text[at] != '/') ++at;
  return at;
}

std::string significant(double value) {
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  if (value >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

// What to do about a number that no unit follows at once.
std::string unit_advice(std::string_view rest) {
  const std::string_view word = trimmed(rest);
  if (word.empty() || word == rest) return "; add a unit: ms, s, m or h";
  for (const std::string_view unit : {"ms", "s", "m", "h", "d"}) {
    if (word == unit) return "; no space stands before the unit";
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kWords{
      {{"mil", "ms"}, {"sec", "s"}, {"min", "m"}, {"h", "h"}, {"day", "d"}}};
  for (const auto& [start, unit] : kWords) {
    if (word.starts_with(start)) return fmt::format("; write the unit as {}, directly after the number", unit);
  }
  return "; write the unit directly after the number: ms, s, m or h";
}

}  // namespace

std::size_t number_length(std::string_view text) {
  std::size_t at = digits_at(text, 0);
  if (at == 0) return 0;
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction = digits_at(text, at + 1);
    if (fraction > 0) at += 1 + fraction;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    std::size_t mark = at + 1;
    if (mark < text.size() && (text[mark] == '+' || text[mark] == '-')) ++mark;
    const std::size_t exponent = digits_at(text, mark);
    if (exponent > 0) at = mark + exponent;
  }
  return at;
}

std::optional<double> parse_number(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || number_length(digits) != digits.size()) return std::nullopt;
  const double value = to_double(digits);
  if (!std::isfinite(value)) return std::nullopt;
  return text.starts_with('-') ? -value : value;
}

Expected<Duration> parse_duration(std::string_view given) {
  std::string_view text = trimmed(given);
  if (text.empty()) return not_a_duration(given, "");
  if (parse_number(text) == 0.0) return Duration{};
  double total = 0;
  std::size_t next_unit = 0;
  while (!text.empty()) {
    const std::size_t length = number_length(text);
    if (length == 0) return not_a_duration(given, text.starts_with('-') ? "; a time cannot be negative" : "");
    const double value = to_double(text.substr(0, length));
    text.remove_prefix(length);
    const std::string_view name = text.substr(0, unit_length(text));
    if (name.empty()) return not_a_duration(given, unit_advice(text));
    std::size_t unit = 0;
    while (unit < kTimeUnits.size() && kTimeUnits[unit].name != name) ++unit;
    if (unit == kTimeUnits.size()) {
      return not_a_duration(given, fmt::format("; '{}' is not a unit of time (ns, us, ms, s, m, h, d)", name));
    }
    if (unit < next_unit) return not_a_duration(given, "; larger units go first, each once");
    next_unit = unit + 1;
    total += value * kTimeUnits[unit].factor;
    text.remove_prefix(name.size());
  }
  // Duration holds 292 years; a limit well inside it keeps sums of durations safe.
  constexpr double kLongest = 100.0 * 365 * 86400;
  if (!(total <= kLongest)) return not_a_duration(given, "; the longest time is 100 years");
  return from_seconds(total);
}

Expected<std::uint64_t> parse_size(std::string_view given) {
  const std::string_view text = trimmed(given);
  const std::size_t length = number_length(text);
  const std::string_view name = trimmed(text.substr(length));
  for (const Unit& unit : kSizeUnits) {
    if (length == 0 || unit.name != name) continue;
    const double bytes = to_double(text.substr(0, length)) * unit.factor;
    if (!(bytes <= 0x1p53))
      return fail(fmt::format("a size of {} is beyond 8 PiB; write a smaller one", quoted(given)));
    // Decimal fractions such as 1.1KB are not exact in binary; only what is no whole byte either way is refused.
    const double whole = std::nearbyint(bytes);
    if (std::abs(bytes - whole) > 1e-6 * std::max(1.0, bytes)) break;
    return static_cast<std::uint64_t>(whole);
  }
  return fail(fmt::format("expected a size in whole bytes such as 512, 10KB or 4MiB, found {}", quoted(given)));
}

Expected<double> parse_rate(std::string_view given) {
  const auto wrong = [&] {
    return fail(fmt::format("expected a rate such as 200/s, 12/m or 0.5/h, found {}", quoted(given)));
  };
  const std::string_view text = trimmed(given);
  const std::size_t slash = text.find('/');
  const auto count = parse_number(trimmed(text.substr(0, slash)));
  if (!count || *count < 0) return wrong();
  if (slash == std::string_view::npos) return *count;
  const std::string_view per = trimmed(text.substr(slash + 1));
  double period = 0;
  if (number_length(per) > 0) {
    const auto duration = parse_duration(per);
    if (!duration) return wrong();
    period = seconds(*duration);
  }
  for (const Unit& unit : kTimeUnits) {
    if (unit.name == per) period = unit.factor;
  }
  if (period <= 0) return wrong();
  const double rate = *count / period;
  if (!std::isfinite(rate)) return wrong();
  return rate;
}

Expected<double> parse_percent(std::string_view given) {
  const std::string_view text = trimmed(given);
  const auto value = text.ends_with('%') ? parse_number(trimmed(text.substr(0, text.size() - 1))) : std::nullopt;
  if (!value) return fail(fmt::format("expected a percentage such as 1% or 99.9%, found {}", quoted(given)));
  return *value / 100;
}

std::string format_duration(Duration duration) {
  if (duration < Duration{}) {
    const Duration positive = duration == Duration::min() ? Duration::max() : -duration;
    return "-" + format_duration(positive);
  }
  const double nanoseconds = static_cast<double>(duration.count());
  if (nanoseconds < 999.5) return fmt::format("{} ns", duration.count());
  if (nanoseconds < 999.5e3) return significant(nanoseconds / 1e3) + " µs";
  if (nanoseconds < 999.5e6) return significant(nanoseconds / 1e6) + " ms";
  if (nanoseconds < 59.95e9) return significant(nanoseconds / 1e9) + " s";
  const std::int64_t whole =
      duration.count() / 1'000'000'000 + (duration.count() % 1'000'000'000 >= 500'000'000 ? 1 : 0);
  const auto pair = [](std::int64_t large, char large_unit, std::int64_t small, char small_unit) {
    return small == 0 ? fmt::format("{}{}", large, large_unit)
                      : fmt::format("{}{} {}{}", large, large_unit, small, small_unit);
  };
  if (whole < 3600) return pair(whole / 60, 'm', whole % 60, 's');
  if (whole < 86400) return pair(whole / 3600, 'h', whole % 3600 / 60, 'm');
  return pair(whole / 86400, 'd', whole % 86400 / 3600, 'h');
}

std::string format_size(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 6> kNames{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t name = 0;
  for (; value >= 1023.5 && name + 1 < kNames.size(); ++name) value /= 1024;
  return fmt::format("{} {}", significant(value), kNames[name]);
}

std::string format_count(double count) {
  constexpr std::array<char, 4> kNames{'k', 'M', 'G', 'T'};
  if (!std::isfinite(count)) return "-";
  if (count < 0) return "-" + format_count(-count);
  if (count < 999.5) return count == std::floor(count) ? fmt::format("{:.0f}", count) : significant(count);
  double value = count / 1000;
  std::size_t name = 0;
  for (; value >= 999.5 && name + 1 < kNames.size(); ++name) value /= 1000;
  return significant(value) + kNames[name];
}

}  // namespace muster::base
