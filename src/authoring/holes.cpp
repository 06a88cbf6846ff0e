#include "authoring/holes.h"

namespace muster::authoring {
namespace {

// Where the hole whose expression starts at `from` ends, or npos.
std::size_t hole_end(std::string_view text, std::size_t from) {
  char quote = 0;
  for (std::size_t at = from; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == '\\') {
        ++at;
      } else if (c == quote) {
        quote = 0;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '}') {
      return at;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::expected<std::vector<TextPiece>, ExpressionError> split_holes(std::string_view text) {
  std::vector<TextPiece> pieces;
  const auto literal = [&pieces](std::string_view part, std::size_t offset) { append_literal(pieces, part, offset); };
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t dollar = text.find('$', at);
    literal(text.substr(at, dollar - at), at);
    if (dollar == std::string_view::npos) break;
    if (text.substr(dollar).starts_with("$${")) {
      literal("${", dollar);
      at = dollar + 3;
    } else if (text.substr(dollar).starts_with("${")) {
      const std::size_t end = hole_end(text, dollar + 2);
      if (end == std::string_view::npos) {
        return std::unexpected(ExpressionError{"this ${ is not closed; add }, or write $${ for a literal ${", dollar});
      }
      pieces.push_back(
          {.text = std::string(text.substr(dollar + 2, end - dollar - 2)), .hole = true, .offset = dollar + 2});
      at = end + 1;
    } else {
      literal("$", dollar);
      at = dollar + 1;
    }
  }
  return pieces;
}

void append_literal(std::vector<TextPiece>& pieces, std::string_view text, std::size_t offset) {
  if (text.empty()) return;
  if (pieces.empty() || pieces.back().hole) pieces.push_back({.text = {}, .hole = false, .offset = offset});
  pieces.back().text += text;
}

}  // namespace muster::authoring
