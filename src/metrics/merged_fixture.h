// For tests: two of what can be merged, merged.
#pragma once

namespace muster::metrics {

template <class Value>
Value merged(Value left, const Value& right) {
  left.merge(right);
  return left;
}

}  // namespace muster::metrics
