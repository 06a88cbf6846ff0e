#include "authoring/json_document.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cstring>

#include "authoring/arena_text.h"
#include "authoring/json_grammar.h"
#include "authoring/json_scan.h"
#include "authoring/json_write.h"
#include "authoring/options.h"

namespace muster::authoring {

namespace dom = simdjson::dom;
using model::Value;

struct JsonDocument::Parser {
  dom::parser parser{kJsonLimits.text_bytes};
  dom::element root;
  bool parsed = false;
  bool scanned = false;   // it is JSON, but not for `parser`: values are read from the text
  std::string_view text;  // in `padded`
  std::unique_ptr<char[]> padded;
  std::size_t capacity = 0;
};

namespace {

// The element that `part` names, or an error.
simdjson::simdjson_result<dom::element> step_into(const dom::element& element, const PathPart& part) {
  if (const auto* name = std::get_if<std::string>(&part)) return element[*name];
  dom::array array;
  if (const auto error = element.get(array)) return error;
  std::int64_t index = std::get<std::int64_t>(part);
  if (index < 0) {
    // size() counts no further than 0xFFFFFF.
    for ([[maybe_unused]] const dom::element each : array) ++index;
    if (index < 0) return simdjson::INDEX_OUT_OF_BOUNDS;
  }
  return array.at(static_cast<std::size_t>(index));
}

// Of texts that simdjson refuses with one of these, some are JSON: it holds no number beyond its types and no half of a
// surrogate pair.
bool may_be_json(simdjson::error_code refused) {
  return refused == simdjson::NUMBER_ERROR || refused == simdjson::STRING_ERROR;
}

Value scanned_value(std::string_view text, const Path& path, base::Arena& arena) {
  const Value value = find_in_json(text, path, arena);
  if (value.type() == model::ValueType::kText) return Value::of(arena.copy(value.text()));
  if (value.type() != model::ValueType::kJson) return value;
  ArenaText out(arena, 248);
  append_compact(out, value.text());
  return out.overflowed() ? Value() : Value::json(out.finish());
}

}  // namespace

JsonDocument::JsonDocument() : parser_(std::make_unique<Parser>()) {}
JsonDocument::~JsonDocument() = default;

bool JsonDocument::parse(std::string_view text) {
  Parser& state = *parser_;
  state.parsed = false;
  state.scanned = false;
  state.text = {};
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.size() > kJsonLimits.text_bytes) return false;
  constexpr std::size_t kSmallest = 16u << 10;
  if (state.capacity < text.size() || state.capacity == 0) {
    state.capacity = std::max(text.size() + text.size() / 2, kSmallest);
    state.padded = std::make_unique_for_overwrite<char[]>(state.capacity + simdjson::SIMDJSON_PADDING);
    const std::size_t wanted = std::min(state.capacity, kJsonLimits.text_bytes);
    if (state.parser.allocate(wanted, kJsonLimits.depth) != simdjson::SUCCESS) return false;
  }
  if (!text.empty()) std::memcpy(state.padded.get(), text.data(), text.size());
  std::memset(state.padded.get() + text.size(), 0, simdjson::SIMDJSON_PADDING);
  state.text = {state.padded.get(), text.size()};
  const simdjson::error_code refused = state.parser.parse(state.padded.get(), text.size(), false).get(state.root);
  state.parsed = refused == simdjson::SUCCESS;
  if (!state.parsed && may_be_json(refused)) state.scanned = !json_fault(state.text, kJsonLimits.depth);
  return state.parsed || state.scanned;
}

std::string JsonDocument::fault() const {
  if (parser_->text.data() == nullptr) return fmt::format("it has more than {} bytes", kJsonLimits.text_bytes);
  return json_fault(parser_->text, kJsonLimits.depth).value_or("it could not be read");
}

Value JsonDocument::find(const Path& path, base::Arena& arena) const {
  if (parser_->scanned) return scanned_value(parser_->text, path, arena);
  if (!parser_->parsed) return {};
  dom::element element = parser_->root;
  for (const PathPart& part : path) {
    if (step_into(element, part).get(element) != simdjson::SUCCESS) return {};
  }
  switch (element.type()) {
    case dom::element_type::STRING:
      return Value::of(arena.copy(element.get_string().value_unsafe()));
    case dom::element_type::ARRAY:
    case dom::element_type::OBJECT: {
      ArenaText out(arena, 248);
      append_element(out, element);
      return out.overflowed() ? Value() : Value::json(out.finish());
    }
    default:
      return scalar_value(element);
  }
}

}  // namespace muster::authoring
