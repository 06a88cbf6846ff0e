// Prints for a person. A reader that has gone or a full disk must not end a run that others wait for: what cannot be
// written is dropped, where fmt::print would throw.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace muster::console {

template <class... Values>
void say(std::FILE* to, fmt::format_string<Values...> format, Values&&... values) {
  const std::string text = fmt::format(format, std::forward<Values>(values)...);
  std::fwrite(text.data(), 1, text.size(), to);
}

template <class... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  say(stdout, format, std::forward<Values>(values)...);
}

// Whether something said on standard output has not arrived although somebody is there to read it: a full disk. Sends
// on what is still buffered.
bool standard_output_lost();

}  // namespace muster::console
