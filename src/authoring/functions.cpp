#include "authoring/functions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>

#include "authoring/arena_text.h"
#include "authoring/value_text.h"

namespace muster::authoring {
namespace {

using model::Value;
using model::ValueType;

// An integer where the number is whole and fits, else missing where it is not finite.
Value whole_or_number(double number) {
  if (!std::isfinite(number)) return {};
  if (number == std::trunc(number) && std::abs(number) < 0x1p62) return Value::of(static_cast<std::int64_t>(number));
  return Value::of(number);
}

Value random(const Evaluation& evaluation, Arguments arguments) {
  if (arguments.empty()) return Value::of(evaluation.random->unit());
  const Value from = to_number(arguments[0]);
  const Value to = to_number(arguments[1]);
  if (from.type() != ValueType::kInteger || to.type() != ValueType::kInteger) return {};
  if (from.integer() > to.integer()) return {};
  const auto low = static_cast<std::uint64_t>(from.integer());
  const std::uint64_t span = static_cast<std::uint64_t>(to.integer()) - low + 1;
  const std::uint64_t offset = span == 0 ? evaluation.random->next() : evaluation.random->below(span);
  return Value::of(static_cast<std::int64_t>(low + offset));
}

// Version 4 (RFC 9562 section 5.4).
Value uuid(const Evaluation& evaluation, Arguments) {
  const std::uint64_t high = (evaluation.random->next() & ~std::uint64_t{0xF000}) | 0x4000;
  const std::uint64_t low = (evaluation.random->next() >> 2) | (std::uint64_t{1} << 63);
  char* const memory = evaluation.arena->allocate(36);
  char* out = memory;
  for (unsigned digit = 0; digit < 32; ++digit) {
    if (digit == 8 || digit == 12 || digit == 16 || digit == 20) *out++ = '-';
    const std::uint64_t half = digit < 16 ? high : low;
    *out++ = kHexDigits[(half >> (60 - 4 * (digit % 16))) & 15];
  }
  return Value::of(std::string_view(memory, 36));
}

Value counter(const Evaluation& evaluation, Arguments) {
  const std::uint64_t value = *evaluation.counter;
  *evaluation.counter += evaluation.counter_step;
  return Value::of(static_cast<std::int64_t>(value));
}

Value now(const Evaluation& evaluation, Arguments) {
  return Value::of(base::seconds(evaluation.wall));
}

// strftime would take the parts for local time to write %s: puts the seconds there. False if they do not fit.
bool with_seconds(std::string_view given, std::time_t seconds, std::span<char> out) {
  while (!given.empty()) {
    const std::size_t length = given.front() == '%' ? std::min<std::size_t>(given.size(), 2) : 1;
    if (out.size() <= length) return false;
    std::size_t written = length;
    if (given.starts_with("%s")) {
      const auto [end, failure] = std::to_chars(out.data(), out.data() + out.size() - 1, seconds);
      if (failure != std::errc()) return false;
      written = static_cast<std::size_t>(end - out.data());
    } else {
      std::ranges::copy(given.substr(0, length), out.begin());
    }
    given.remove_prefix(length);
    out = out.subspan(written);
  }
  out.front() = '\0';
  return true;
}

Value time(const Evaluation& evaluation, Arguments arguments) {
  // strftime needs a terminator and gives 0 both for an empty result and for one that does not fit.
  constexpr std::size_t kLongestGiven = 255;
  std::array<char, 512> format{};
  std::array<char, 512> out{};
  const std::string_view given = arguments.empty() ? "%Y-%m-%dT%H:%M:%SZ" : call::as_text(evaluation, arguments[0]);
  if (given.size() > kLongestGiven) return {};
  const auto seconds = static_cast<std::time_t>(std::chrono::floor<std::chrono::seconds>(evaluation.wall).count());
  if (!with_seconds(given, seconds, format)) return {};
  std::tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr) return {};
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
  const std::size_t size = std::strftime(out.data(), out.size(), format.data(), &parts);
#pragma clang diagnostic pop
  return Value::of(evaluation.arena->copy({out.data(), size}));
}

Value vu(const Evaluation& evaluation, Arguments) {
  return Value::of(static_cast<std::int64_t>(evaluation.vu));
}

Value iteration(const Evaluation& evaluation, Arguments) {
  return Value::of(static_cast<std::int64_t>(evaluation.iteration));
}

Value number(const Evaluation&, Arguments arguments) {
  if (arguments[0].type() == ValueType::kBool) return Value::of(std::int64_t{arguments[0].boolean() ? 1 : 0});
  return to_number(arguments[0]);
}

Value integer(const Evaluation& evaluation, Arguments arguments) {
  const Value value = number(evaluation, arguments);
  return value.type() == ValueType::kNumber ? whole_or_number(std::trunc(value.number())) : value;
}

Value absolute(const Evaluation&, Arguments arguments) {
  const Value value = to_number(arguments[0]);
  if (value.missing()) return {};
  if (value.type() == ValueType::kNumber || value.integer() == INT64_MIN) return Value::of(std::abs(value.number()));
  return Value::of(value.integer() < 0 ? -value.integer() : value.integer());
}

template <double (*round)(double)>
Value rounded(const Evaluation&, Arguments arguments) {
  const Value value = to_number(arguments[0]);
  return value.type() == ValueType::kNumber ? whole_or_number(round(value.number())) : value;
}

double down(double value) {
  return std::floor(value);
}

double up(double value) {
  return std::ceil(value);
}

Value round(const Evaluation&, Arguments arguments) {
  const Value value = to_number(arguments[0]);
  if (value.type() != ValueType::kNumber) return value;
  if (arguments.size() == 1) return whole_or_number(std::round(value.number()));
  const Value places = to_number(arguments[1]);
  if (places.type() != ValueType::kInteger || places.integer() < 0 || places.integer() > 15) return {};
  const double scale = std::pow(10.0, static_cast<double>(places.integer()));
  const double result = std::round(value.number() * scale) / scale;
  return std::isfinite(result) ? Value::of(result) : value;
}

template <bool kLargest>
Value extreme(const Evaluation&, Arguments arguments) {
  Value best;
  for (const Value& argument : arguments) {
    const Value value = to_number(argument);
    if (value.missing()) return {};
    const bool better = kLargest ? value.number() > best.number() : value.number() < best.number();
    if (best.missing() || better) best = value;
  }
  return best;
}

constexpr auto kFunctions = std::to_array<Function>({
    {"abs", "abs(number)", 1, 1, true, absolute},
    {"base64", "base64(text)", 1, 1, true, call::base64},
    {"base64decode", "base64decode(text)", 1, 1, true, call::base64decode},
    {"base64url", "base64url(text)", 1, 1, true, call::base64url},
    {"between", "between(text, left, right)", 3, 3, true, call::between},
    {"ceil", "ceil(number)", 1, 1, true, rounded<up>},
    {"counter", "counter()", 0, 0, false, counter},
    {"floor", "floor(number)", 1, 1, true, rounded<down>},
    {"hex", "hex(text)", 1, 1, true, call::hex},
    {"hmac", "hmac(algorithm, key, text [, 'hex' or 'base64'])", 3, 4, true, call::hmac},
    {"int", "int(value)", 1, 1, true, integer},
    {"iteration", "iteration()", 0, 0, false, iteration},
    {"json", "json(value)", 1, 1, true, call::json},
    {"length", "length(value)", 1, 1, true, call::length},
    {"lower", "lower(text)", 1, 1, true, call::lower},
    {"max", "max(number, …)", 1, 32, true, extreme<true>},
    {"md5", "md5(text [, 'hex' or 'base64'])", 1, 2, true, call::md5},
    {"min", "min(number, …)", 1, 32, true, extreme<false>},
    {"now", "now()", 0, 0, false, now},
    {"number", "number(value)", 1, 1, true, number},
    {"pick", "pick(value, …)", 1, 32, false, nullptr, Op::kPick},
    {"random", "random() or random(from, to)", 0, 2, false, random},
    {"regex", "regex(text, pattern [, group])", 2, 3, true, nullptr, Op::kRegex},
    {"replace", "replace(text, what, with)", 3, 3, true, call::replace},
    {"round", "round(number [, places])", 1, 2, true, round},
    {"sha1", "sha1(text [, 'hex' or 'base64'])", 1, 2, true, call::sha1},
    {"sha256", "sha256(text [, 'hex' or 'base64'])", 1, 2, true, call::sha256},
    {"sha512", "sha512(text [, 'hex' or 'base64'])", 1, 2, true, call::sha512},
    {"substr", "substr(text, start [, count])", 2, 3, true, call::substr},
    {"text", "text(value)", 1, 1, true, call::text},
    {"time", "time() or time(format)", 0, 1, false, time},
    {"trim", "trim(text)", 1, 1, true, call::trim},
    {"upper", "upper(text)", 1, 1, true, call::upper},
    {"urlencode", "urlencode(text)", 1, 1, true, call::urlencode},
    {"uuid", "uuid()", 0, 0, false, uuid},
    {"vu", "vu()", 0, 0, false, vu},
});

static_assert(std::ranges::is_sorted(kFunctions, {}, &Function::name));

}  // namespace

std::span<const Function> functions() {
  return kFunctions;
}

const Function* find_function(std::string_view name) {
  const auto* found = std::ranges::lower_bound(kFunctions, name, {}, &Function::name);
  return found != kFunctions.end() && found->name == name ? &*found : nullptr;
}

}  // namespace muster::authoring
