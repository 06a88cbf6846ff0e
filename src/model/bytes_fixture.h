// For tests: the bytes of whatever this room encodes.
#pragma once

#include <string>

namespace muster::model {

template <class Value>
std::string bytes_of(const Value& value) {
  std::string bytes;
  encode(value, bytes);
  return bytes;
}

}  // namespace muster::model
