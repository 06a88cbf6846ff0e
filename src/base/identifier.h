// What may name a value: in expressions, in ${env.NAME}, in the environment. Pure.
#pragma once

#include <string_view>

#include "base/characters.h"

namespace muster::base {

// Letters, digits and '_', not beginning with a digit.
constexpr bool identifier(std::string_view text) {
  if (text.empty() || is_digit(text.front())) return false;
  for (const char c : text) {
    const bool letter = is_letter(c) || c == '_';
    if (!letter && !is_digit(c)) return false;
  }
  return true;
}

}  // namespace muster::base
