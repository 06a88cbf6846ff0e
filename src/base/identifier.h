// What may name a value: in expressions, in ${env.NAME}, in the environment. Pure.
#pragma once

#include <string_view>

namespace muster::base {

// Letters, digits and '_', not beginning with a digit.
constexpr bool identifier(std::string_view text) {
  if (text.empty() || (text.front() >= '0' && text.front() <= '9')) return false;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}

}  // namespace muster::base
