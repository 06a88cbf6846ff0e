// Which alternative of a variant to read into, by its number.
#pragma once

#include <cstddef>
#include <utility>
#include <variant>

namespace muster::cluster {

// Makes `value` hold a default alternative `index`; an index that does not exist leaves it alone.
template <class... Alternatives>
void choose_alternative(std::variant<Alternatives...>& value, std::size_t index) {
  [&]<std::size_t... Is>(std::index_sequence<Is...>) {
    static_cast<void>(((Is == index && (value.template emplace<Is>(), true)) || ...));
  }(std::index_sequence_for<Alternatives...>());
}

}  // namespace muster::cluster
