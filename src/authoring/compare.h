// When two values are equal, which one is less, and what lies within what: the rules of docs/expressions.md. No rule
// holds for a missing value; every comparison with one is false.
#pragma once

#include <compare>

#include "base/arena.h"
#include "model/value.h"

namespace muster::authoring {

// Numbers with numbers and with text that is a number: as numbers. Text with text: byte by byte. Two JSON values: by
// their text without white space. Values of different types are not equal.
bool equal(const model::Value& left, const model::Value& right);

// Numbers, and texts that are both numbers: as numbers. Other texts: byte by byte. Anything else is unordered.
std::partial_ordering order(const model::Value& left, const model::Value& right);

// Text within text; an element within a JSON array; a key within a JSON object.
bool contains(const model::Value& whole, const model::Value& part, base::Arena& arena);

}  // namespace muster::authoring
