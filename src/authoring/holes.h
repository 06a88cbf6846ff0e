// Cuts text with ${…} holes into its pieces. The one place that knows where a hole ends.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "authoring/expression.h"

namespace muster::authoring {

struct TextPiece {
  std::string text;  // a literal with `$${` resolved, or the expression inside a hole
  bool hole = false;
  std::size_t offset = 0;  // where the piece (inside a hole: its expression) starts
};

// Neighbouring literals are one piece; no piece of literal text is empty. A '}' inside quotes does not end a hole.
std::expected<std::vector<TextPiece>, ExpressionError> split_holes(std::string_view text);

// Adds text to the end, to the last piece if that is a literal.
void append_literal(std::vector<TextPiece>& pieces, std::string_view text, std::size_t offset = 0);

}  // namespace muster::authoring
