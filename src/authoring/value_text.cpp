#include "authoring/value_text.h"

namespace muster::authoring {

using model::Value;

Value number_of(std::string_view text) {
  // The longest exact double has some 770 digits; numbers in data are far shorter.
  constexpr std::size_t kLongestNumber = 64;
  if (text.empty() || text.size() > kLongestNumber) return {};
  std::int64_t integer = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, integer);
  if (error == std::errc() && stop == end) return Value::of(integer);
  const auto number = base::parse_number(text);
  return number ? Value::of(*number) : Value();
}

}  // namespace muster::authoring
