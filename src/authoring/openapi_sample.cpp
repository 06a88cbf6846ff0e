#include "authoring/openapi_sample.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "authoring/openapi_pattern.h"
#include "protocol/url.h"

namespace muster::authoring {
namespace {

const ImportJson& nothing() {
  static const ImportJson kNothing;
  return kNothing;
}

// Swagger and OpenAPI 3.0 write one word, OpenAPI 3.1 a word or a list.
std::string type_of(const ImportJson& schema) {
  const ImportJson& type = member(schema, "type");
  if (type.is_string()) return type.get<std::string>();
  if (type.is_array()) {
    for (const ImportJson& each : type) {
      if (each.is_string() && each.get_ref<const std::string&>() != "null") return each.get<std::string>();
    }
  }
  if (member(schema, "properties").is_object()) return "object";
  return member(schema, "items").is_object() ? "array" : "";
}

// The text of a format; empty if it is not known.
std::string_view format_sample(std::string_view format) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kFormats{{
      {"date-time", "2026-01-02T03:04:05Z"},
      {"date", "2026-01-02"},
      {"time", "03:04:05Z"},
      {"uuid", "00000000-0000-4000-8000-000000000001"},
      {"email", "ada@example.com"},
      {"uri", "https://example.com/"},
      {"url", "https://example.com/"},
      {"hostname", "example.com"},
      {"ipv4", "192.0.2.1"},
      {"ipv6", "2001:db8::1"},
      {"byte", "c2FtcGxl"},
      {"password", "sample-password"},
      {"duration", "PT1H"},
  }};
  const auto found = std::ranges::find(kFormats, format, [](const auto& each) { return each.first; });
  return found == kFormats.end() ? std::string_view() : found->second;
}

// Bounds that a number keeps.
struct Range {
  double low = -kFar;
  double high = kFar;
  bool above = false;  // `low` itself is out
  bool below = false;  // `high` itself is out
  static constexpr double kFar = 1e300;

  bool has(double value) const {
    return (above ? value > low : value >= low) && (below ? value < high : value <= high);
  }
};

// OpenAPI 3.0 writes `exclusiveMinimum: true` beside a minimum, 3.1 the bound itself.
Range range_of(const ImportJson& schema) {
  Range range;
  range.low = number_member(schema, "minimum", range.low);
  range.high = number_member(schema, "maximum", range.high);
  const ImportJson& above = member(schema, "exclusiveMinimum");
  const ImportJson& below = member(schema, "exclusiveMaximum");
  if (above.is_number() && above.get<double>() >= range.low) range.low = above.get<double>();
  if (below.is_number() && below.get<double>() <= range.high) range.high = below.get<double>();
  range.above = above.is_number() ? range.low == above.get<double>() : above.is_boolean() && above.get<bool>();
  range.below = below.is_number() ? range.high == below.get<double>() : below.is_boolean() && below.get<bool>();
  return range;
}

// The number of `step`s next to 1, or to the bound that forbids it.
double on_grid(const Range& range, double step) {
  constexpr double kRounding = 1e-9;  // 0.05 / 0.01 is a little more than 5
  if (range.low <= -Range::kFar && range.high < step) {
    const double count = std::floor(range.high / step + kRounding);
    return (range.has(count * step) ? count : count - 1) * step;
  }
  const double count = std::ceil((range.low > -Range::kFar ? range.low : std::min(step, 1.0)) / step - kRounding);
  return (range.has(count * step) ? count : count + 1) * step;
}

// Moves `bound` to the outermost whole number that `given` allows; `inward` is 1 for the least and -1 for the most.
// False: that is beyond 64 bits.
bool tighten(std::int64_t& bound, const ImportJson& given, bool excluded, std::int64_t inward) {
  constexpr double kBeyond = 0x1p63;
  if (!given.is_number()) return true;
  std::int64_t whole = 0;
  if (given.is_number_float()) {
    const double number = given.get<double>();
    const double rounded = inward > 0 ? std::ceil(number) : std::floor(number);
    if (!(std::abs(rounded) < kBeyond)) return false;
    whole = static_cast<std::int64_t>(rounded);
    excluded = excluded && rounded == number;
  } else if (given.is_number_unsigned() && !std::in_range<std::int64_t>(given.get<std::uint64_t>())) {
    return false;
  } else {
    whole = given.get<std::int64_t>();
  }
  if (excluded && __builtin_add_overflow(whole, inward, &whole)) return false;
  bound = inward > 0 ? std::max(bound, whole) : std::min(bound, whole);
  return true;
}

// As on_grid(), without the rounding of doubles, which have no place for all whole numbers beyond 2^53. Nothing: there
// is none within the bounds, or they are beyond 64 bits.
std::optional<std::int64_t> whole_on_grid(const ImportJson& schema, double step) {
  using Limits = std::numeric_limits<std::int64_t>;
  constexpr double kExact = 0x1p53;
  if (step != std::floor(step) || step > kExact) return std::nullopt;
  const auto excluded = [](const ImportJson& bound) { return bound.is_boolean() && bound.get<bool>(); };
  const ImportJson& above = member(schema, "exclusiveMinimum");
  const ImportJson& below = member(schema, "exclusiveMaximum");
  std::int64_t low = Limits::min();
  std::int64_t high = Limits::max();
  const bool within = tighten(low, member(schema, "minimum"), excluded(above), 1) && tighten(low, above, true, 1) &&
                      tighten(high, member(schema, "maximum"), excluded(below), -1) && tighten(high, below, true, -1);
  if (!within) return std::nullopt;
  const auto grid = static_cast<std::int64_t>(step);
  const bool downward = low == Limits::min() && high < grid;
  const std::int64_t from = downward ? high : low == Limits::min() ? grid : low;
  std::int64_t rest = from % grid;
  if (downward && rest < 0) rest += grid;
  if (!downward && rest > 0) rest -= grid;
  std::int64_t value = 0;
  if (__builtin_sub_overflow(from, rest, &value) || value < low || value > high) return std::nullopt;
  return value;
}

// What a value adds to a document: its parts, and its texts where they are long.
std::size_t weight(const ImportJson& value) {
  std::size_t sum = 1;
  if (value.is_string()) sum += value.get_ref<const std::string&>().size() / 64;
  if (value.is_structured()) {
    for (const ImportJson& each : value) sum += weight(each);
  }
  return sum;
}

constexpr std::array<std::string_view, 2> kAlternatives{"oneOf", "anyOf"};

// The list under `oneOf` or `anyOf`; nothing if there is none.
const ImportJson& alternatives(const ImportJson& schema, std::string_view key) {
  const ImportJson& some = member(schema, key);
  return some.is_array() ? some : nothing();
}

double anywhere(const Range& range) {
  if (range.low <= -Range::kFar && range.high >= Range::kFar) return 1;
  if (range.low <= -Range::kFar) return range.has(1) ? 1 : range.below ? range.high - 1 : range.high;
  if (!range.above) return range.low;
  return range.has(range.low + 1) ? range.low + 1 : range.low + (range.high - range.low) / 2;
}

}  // namespace

const ImportJson& example_of(const ImportJson& value) {
  if (const ImportJson& example = member(value, "example"); !example.is_null()) return example;
  const ImportJson& examples = member(value, "examples");
  if (examples.is_array() && !examples.empty()) return examples.front();
  // Under a parameter or a media type: name → { value }.
  if (examples.is_object() && !examples.empty()) return member(examples.front(), "value");
  return nothing();
}

const ImportJson& SchemaSampler::resolved(const ImportJson& value) const {
  const ImportJson* at = &value;
  const std::string first = text_member(value, "$ref");
  for (std::size_t hops = 0; hops < limits_.references; ++hops) {
    const ImportJson& reference = member(*at, "$ref");
    if (!reference.is_string()) {
      if (at->is_null() && !first.empty()) break;
      return *at;
    }
    const std::string& text = reference.get_ref<const std::string&>();
    if (!text.starts_with("#/")) {
      if (remote_.empty()) remote_ = text;
      return unresolved(text);
    }
    at = &document_;
    std::string_view rest = std::string_view(text).substr(2);
    while (true) {
      const std::size_t slash = rest.find('/');
      std::string key = protocol::percent_decode(rest.substr(0, slash));
      for (const auto& [mark, character] : {std::pair("~1", "/"), std::pair("~0", "~")}) {
        for (std::size_t found = key.find(mark); found != std::string::npos; found = key.find(mark, found + 1)) {
          key.replace(found, 2, character);
        }
      }
      std::size_t index = 0;
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
      const bool number = error == std::errc() && end == key.data() + key.size();
      at = at->is_array() && number && index < at->size() ? &(*at)[index] : &member(*at, key);
      if (slash == std::string_view::npos) break;
      rest.remove_prefix(slash + 1);
    }
  }
  return unresolved(first);
}

const ImportJson& SchemaSampler::unresolved(const std::string& reference) const {
  constexpr std::size_t kMost = 100;
  if (std::ranges::find(unresolved_, reference) == unresolved_.end() && unresolved_.size() < kMost)
    unresolved_.push_back(reference);
  return nothing();
}

ImportJson SchemaSampler::sample(const ImportJson& schema, std::string_view name) {
  nodes_ = 0;
  names_.clear();
  if (!name.empty()) names_.emplace_back(name);
  under_way_.clear();
  return made(schema, 0);
}

ImportJson SchemaSampler::made(const ImportJson& given, std::size_t depth) {
  if (depth > limits_.sample_depth || ++nodes_ > limits_.sample_nodes) return cut("too large");
  const ImportJson& schema = resolved(given);
  if (std::ranges::find(under_way_, &schema) != under_way_.end()) return cut("a circle of references");
  under_way_.push_back(&schema);
  ImportJson value = composed(schema, depth);
  under_way_.pop_back();
  return value;
}

ImportJson SchemaSampler::cut(std::string_view why) {
  cut_ = why;
  return nullptr;
}

const ImportJson& SchemaSampler::counted(const ImportJson& value) {
  nodes_ += weight(value);
  return value;
}

ImportJson SchemaSampler::composed(const ImportJson& schema, std::size_t depth) {
  if (const ImportJson& example = example_of(schema); !example.is_null()) return counted(example);
  for (const std::string_view key : {"default", "const"}) {
    if (const ImportJson& value = member(schema, key); !value.is_null()) return counted(value);
  }
  if (const ImportJson& choices = member(schema, "enum"); choices.is_array() && !choices.empty())
    return counted(choices.front());
  if (!member(schema, "not").is_null()) doubt("not");
  if (const ImportJson& all = member(schema, "allOf"); all.is_array() && !all.empty())
    return all_of(schema, all, depth);
  const std::string type = type_of(schema);
  if (type == "object") return with_alternatives(schema, depth);
  for (const std::string_view key : kAlternatives) {
    if (const ImportJson& some = alternatives(schema, key); !some.empty()) return made(some.front(), depth + 1);
  }
  if (type == "array") return array(schema, depth);
  if (type == "integer" || type == "number") return number(schema, type == "integer");
  if (type == "boolean") return true;
  if (type == "string") return text(schema);
  return type.empty() && schema.is_object() && !schema.empty() ? ImportJson(text(schema)) : ImportJson();
}

ImportJson SchemaSampler::all_of(const ImportJson& schema, const ImportJson& all, std::size_t depth) {
  ImportJson whole = object(schema, depth);
  ImportJson other;  // where the parts describe no object
  for (const ImportJson& each : all) {
    const ImportJson part = made(each, depth + 1);
    if (!part.is_object()) {
      if (other.is_null()) other = part;
      continue;
    }
    for (const auto& [key, value] : part.items()) whole[key] = value;
  }
  if (!whole.empty() || other.is_null()) return whole;
  if (all.size() > 1) doubt("allOf");
  return other;
}

// What the object itself says, and on top of it the first alternative of each list.
ImportJson SchemaSampler::with_alternatives(const ImportJson& schema, std::size_t depth) {
  std::vector<const ImportJson*> chosen;
  for (const std::string_view key : kAlternatives) {
    if (const ImportJson& some = alternatives(schema, key); !some.empty()) chosen.push_back(&some.front());
  }
  ImportJson whole = object(schema, depth, chosen);
  for (const ImportJson* each : chosen) {
    const ImportJson part = made(*each, depth + 1);
    // The end of a circle, with nothing else to say about the object.
    if (part.is_null() && !member(schema, "properties").is_object()) return nullptr;
    if (!part.is_object()) continue;  // it only says what is required, or the like
    for (const auto& [key, value] : part.items()) {
      if (!value.is_null() || !whole.contains(key)) whole[key] = value;
    }
  }
  return whole;
}

void SchemaSampler::add_required(const ImportJson& schema, std::set<std::string>& names) const {
  const ImportJson& required = member(resolved(schema), "required");
  if (!required.is_array()) return;
  for (const ImportJson& each : required) {
    if (each.is_string()) names.insert(each.get<std::string>());
  }
}

std::string SchemaSampler::text(const ImportJson& schema) {
  constexpr double kMost = 1000;
  const double least = std::max(number_member(schema, "minLength", 0), 0.0);
  const double most = std::max(number_member(schema, "maxLength", 1e9), 0.0);
  const std::string format = text_member(schema, "format");
  std::string made(format_sample(format));
  const bool known = !made.empty();
  if (const ImportJson& pattern = member(schema, "pattern"); pattern.is_string()) {
    const std::string& written = pattern.get_ref<const std::string&>();
    if (auto matching = matching_text(written, static_cast<std::size_t>(std::min(least, kMost + 1)),
                                      static_cast<std::size_t>(std::min(most, kMost)))) {
      return *matching;
    }
    doubt("pattern " + written.substr(0, 60));
  } else if (!known && !format.empty() && format != "binary") {
    doubt("format " + format.substr(0, 40));
  }
  if (!known) {
    made = "sample";
    while (static_cast<double>(made.size()) < std::min(least, kMost)) made += 'x';
    if (static_cast<double>(made.size()) > most) made.resize(static_cast<std::size_t>(most));
  }
  const auto size = static_cast<double>(made.size());
  if (size < least) doubt("minLength");
  if (size > most) doubt("maxLength");
  return made;
}

ImportJson SchemaSampler::number(const ImportJson& schema, bool integer) {
  Range range = range_of(schema);
  double step = number_member(schema, "multipleOf", 0);
  // A whole number of 0.5 or 0.1 is a whole number.
  if (integer && (step <= 0 || std::abs(std::round(1 / step) - 1 / step) < 1e-9)) step = 1;
  if (integer) {
    if (const auto exact = whole_on_grid(schema, step)) return *exact;
  }
  const double value = step > 0 ? on_grid(range, step) : anywhere(range);
  const bool whole = value == std::floor(value);
  if (!range.has(value)) {
    doubt("minimum and maximum");
  } else if (integer && !whole) {
    doubt("multipleOf");
  }
  if (integer && value > -0x1p63 && value < 0x1p63) return static_cast<std::int64_t>(value);
  if (integer && value > 0 && value < 0x1p64) return static_cast<std::uint64_t>(value);
  return value;
}

void SchemaSampler::doubt(std::string why) {
  std::string name;
  for (const std::string& each : names_) name += (name.empty() ? "" : ".") + each.substr(0, 40);
  std::string whole = name.empty() ? std::move(why) : name.substr(0, 120) + " (" + why + ")";
  if (std::ranges::find(doubts_, whole) == doubts_.end() && doubts_.size() < 20) doubts_.push_back(std::move(whole));
}

std::vector<std::string> SchemaSampler::take_doubts() {
  return std::exchange(doubts_, {});
}

ImportJson SchemaSampler::object(const ImportJson& schema, std::size_t depth,
                                 std::span<const ImportJson* const> chosen) {
  ImportJson whole = ImportJson::object();
  const ImportJson& properties = member(schema, "properties");
  if (!properties.is_object()) return whole;
  std::set<std::string> required;
  add_required(schema, required);
  for (const ImportJson* each : chosen) add_required(*each, required);
  // With what only another alternative of `oneOf` requires, the object would fit two of them.
  std::set<std::string> of_others;
  if (!chosen.empty()) {
    for (const ImportJson& each : alternatives(schema, "oneOf")) add_required(each, of_others);
  }
  for (const auto& [key, value] : properties.items()) {
    const bool needed = required.contains(key);
    if (!needed && of_others.contains(key)) continue;
    const ImportJson& property = resolved(value);
    const ImportJson& read_only = member(property, "readOnly");
    if (read_only.is_boolean() && read_only.get<bool>()) continue;
    names_.push_back(key);
    cut_ = {};
    ImportJson part = made(value, depth + 1);
    if (part.is_null() && needed && !cut_.empty()) doubt(std::string(cut_) + ", null in its place");
    names_.pop_back();
    // Where a circle or the depth ended it, what nobody requires is better left out.
    if (!part.is_null() || needed) whole[key] = std::move(part);
  }
  return whole;
}

ImportJson SchemaSampler::array(const ImportJson& schema, std::size_t depth) {
  ImportJson list = ImportJson::array();
  ImportJson part = made(member(schema, "items"), depth + 1);
  if (part.is_null()) return list;
  constexpr double kMost = 100;
  const double most = number_member(schema, "maxItems", 1e9);
  const double least = std::max(number_member(schema, "minItems", 1), 1.0);
  const double wanted = std::min({least, most, kMost});
  const std::size_t each = weight(part);
  for (double count = 0; count < wanted && (count == 0 || nodes_ + each <= limits_.sample_nodes); ++count) {
    if (count > 0) nodes_ += each;
    list.push_back(part);
  }
  if (static_cast<double>(list.size()) < number_member(schema, "minItems", 0)) doubt("minItems");
  const ImportJson& unique = member(schema, "uniqueItems");
  if (list.size() > 1 && unique.is_boolean() && unique.get<bool>()) doubt("uniqueItems");
  return list;
}

}  // namespace muster::authoring
