// What is likely behind a text that is not YAML: the parser tells where it could not go on, which is often far below
// the mistake and in words of its grammar. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster::authoring {

struct SyntaxProblem {
  std::size_t line = 0;    // from 0
  std::size_t column = 0;  // from 0, in bytes
  std::string message;
};

// `found` is the parser's own message and place.
SyntaxProblem explain_syntax(std::string_view text, SyntaxProblem found);

// A plain value as it stands in the text from `from` on: up to the end of its line, a comment or what ends it in a
// flow.
std::string_view written_value(std::string_view from);

}  // namespace muster::authoring
