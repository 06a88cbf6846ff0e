// The words of the expression language, for whoever gives names to values. Pure.
#pragma once

#include <span>
#include <string_view>

namespace muster::authoring {

// What the language keeps for itself, such as `in` and `null`: no expression can read a value of that name.
std::span<const std::string_view> expression_words();
bool expression_word(std::string_view name);

}  // namespace muster::authoring
