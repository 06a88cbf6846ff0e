// Names in a sentence: "a", "a or b", "a, b and c".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::base {

template <class Text>
std::string listed(const std::vector<Text>& names, std::string_view conjunction) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " " + std::string(conjunction) + " " : ", ";
    text += names[i];
  }
  return text;
}

// The same in quotes: "'a' or 'b'".
template <class Text>
std::string listed_quoted(const std::vector<Text>& names, std::string_view conjunction) {
  std::vector<std::string> quoted;
  for (const Text& name : names) quoted.push_back("'" + std::string(name) + "'");
  return listed(quoted, conjunction);
}

}  // namespace muster::base
