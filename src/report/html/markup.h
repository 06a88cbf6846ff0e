// HTML that is being written. Whatever is put into it is escaped, unless it is marked as HTML already: names, messages
// and bytes of servers may hold anything. Holds nothing but the text made so far; one thread.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace muster::report::html {

// For the text of an element or the value of a quoted attribute. Control characters, characters that change the
// direction of text and bytes that are no UTF-8 become '.'; line ends become spaces.
std::string escaped(std::string_view text);
// The same with its line ends, for <pre>.
std::string escaped_lines(std::string_view text);

// A text that is HTML already. Looks at it only; made in the call that uses it.
struct Safe {
  std::string_view html;
};

inline std::string guarded(std::string_view text) {
  return escaped(text);
}
inline std::string_view guarded(Safe safe) {
  return safe.html;
}
template <class Number>
  requires(std::is_arithmetic_v<Number> && !std::same_as<Number, bool> && !std::same_as<Number, char>)
Number guarded(Number number) {
  return number;
}
template <class Argument>
using Guarded = decltype(guarded(std::declval<const Argument&>()));

class Markup {
 public:
  // `format` is HTML with {} for what is escaped.
  template <class... Arguments>
  void put(fmt::format_string<Guarded<Arguments>...> format, const Arguments&... arguments) {
    fmt::format_to(std::back_inserter(html_), format, guarded(arguments)...);
  }
  // HTML as it stands.
  void raw(std::string_view html) { html_ += html; }

  // A place that the page's table of contents leads to, by its id.
  void add_anchor(std::string_view id) { anchors_.emplace_back(id); }
  const std::vector<std::string>& anchors() const { return anchors_; }

  std::string take() { return std::move(html_); }

 private:
  std::string html_;
  std::vector<std::string> anchors_;
};

}  // namespace muster::report::html
