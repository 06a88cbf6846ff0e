// Expected failures as values: what went wrong, said to the person who reads it, and where that is known the place in
// the user's file. Functions that can fail return Expected<T>; nothing in muster throws across a room's border.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace muster::base {

struct Error {
  std::string message;  // what was expected, what was found, what to do next; one or more full lines
};

template <class T>
using Expected = std::expected<T, Error>;

inline std::unexpected<Error> fail(std::string message) {
  return std::unexpected<Error>(Error{std::move(message)});
}

}  // namespace muster::base
