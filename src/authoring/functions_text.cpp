#include <cstring>

#include "authoring/arena_text.h"
#include "authoring/functions.h"
#include "authoring/json_scan.h"
#include "authoring/value_text.h"
#include "base/letter_case.h"

namespace muster::authoring::call {
namespace {

using model::ValueType;

template <class Change>
Value mapped(const Evaluation& evaluation, const Value& value, Change change) {
  const std::string_view text = as_text(evaluation, value);
  char* const memory = evaluation.arena->allocate(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) memory[at] = change(text[at]);
  return Value::of(std::string_view(memory, text.size()));
}

bool white_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

// A byte that starts a character of UTF-8; in text that is no UTF-8, any but the 10xxxxxx ones.
bool starts_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

std::int64_t characters(std::string_view text) {
  std::int64_t count = 0;
  for (const char c : text) count += starts_character(c) ? 1 : 0;
  return count;
}

// Bytes that the first `count` characters take.
std::size_t bytes_of(std::string_view text, std::int64_t count) {
  std::size_t at = 0;
  while (at < text.size() && count > 0) {
    ++at;
    while (at < text.size() && !starts_character(text[at])) ++at;
    --count;
  }
  return at;
}

Value finished(ArenaText& out) {
  return out.overflowed() ? Value() : Value::of(out.finish());
}

}  // namespace

std::string_view as_text(const Evaluation& evaluation, const Value& value) {
  if (value.textual()) return value.text();
  ArenaText out(*evaluation.arena, 32);
  append_plain(out, value);
  return out.finish();
}

Value upper(const Evaluation& evaluation, Arguments arguments) {
  return mapped(evaluation, arguments[0], [](char c) { return base::upper(c); });
}

Value lower(const Evaluation& evaluation, Arguments arguments) {
  return mapped(evaluation, arguments[0], [](char c) { return base::lower(c); });
}

Value trim(const Evaluation& evaluation, Arguments arguments) {
  std::string_view text = as_text(evaluation, arguments[0]);
  while (!text.empty() && white_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && white_space(text.back())) text.remove_suffix(1);
  return Value::of(text);
}

Value length(const Evaluation& evaluation, Arguments arguments) {
  const Value& value = arguments[0];
  if (value.type() == ValueType::kNull) return {};
  if (value.type() == ValueType::kJson) {
    std::int64_t count = 0;
    JsonElements elements(value.text());
    for (std::string_view element; elements.next(element);) ++count;
    return Value::of(count);
  }
  return Value::of(characters(as_text(evaluation, value)));
}

Value substr(const Evaluation& evaluation, Arguments arguments) {
  const std::string_view text = as_text(evaluation, arguments[0]);
  const Value start = to_number(arguments[1]);
  if (start.type() != ValueType::kInteger) return {};
  std::int64_t from = start.integer();
  if (from < 0) from = std::max<std::int64_t>(0, from + characters(text));
  const std::string_view tail = text.substr(bytes_of(text, from));
  if (arguments.size() == 2) return Value::of(tail);
  const Value count = to_number(arguments[2]);
  if (count.type() != ValueType::kInteger || count.integer() < 0) return {};
  return Value::of(tail.substr(0, bytes_of(tail, count.integer())));
}

Value replace(const Evaluation& evaluation, Arguments arguments) {
  const std::string_view text = as_text(evaluation, arguments[0]);
  const std::string_view what = as_text(evaluation, arguments[1]);
  const std::string_view with = as_text(evaluation, arguments[2]);
  if (what.empty()) return Value::of(text);
  ArenaText out(*evaluation.arena, text.size() + 32);
  std::size_t from = 0;
  for (std::size_t at; (at = text.find(what, from)) != std::string_view::npos; from = at + what.size()) {
    out.append(text.substr(from, at - from));
    out.append(with);
    if (out.overflowed()) return {};
  }
  out.append(text.substr(from));
  return finished(out);
}

Value between(const Evaluation& evaluation, Arguments arguments) {
  const std::string_view text = as_text(evaluation, arguments[0]);
  const std::string_view left = as_text(evaluation, arguments[1]);
  const std::string_view right = as_text(evaluation, arguments[2]);
  const std::size_t at = text.find(left);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + left.size());
  if (right.empty()) return Value::of(rest);
  const std::size_t end = rest.find(right);
  return end == std::string_view::npos ? Value() : Value::of(rest.substr(0, end));
}

Value urlencode(const Evaluation& evaluation, Arguments arguments) {
  const std::string_view text = as_text(evaluation, arguments[0]);
  ArenaText out(*evaluation.arena, text.size() + 32);
  append_percent_encoded(out, text, false);
  return finished(out);
}

Value json(const Evaluation& evaluation, Arguments arguments) {
  if (arguments[0].type() == ValueType::kJson) return arguments[0];
  ArenaText out(*evaluation.arena, arguments[0].textual() ? arguments[0].text().size() + 8 : 32);
  append_as_json(out, arguments[0]);
  return finished(out);
}

Value text(const Evaluation& evaluation, Arguments arguments) {
  return Value::of(as_text(evaluation, arguments[0]));
}

}  // namespace muster::authoring::call
