// Prints for a person. A reader that has gone or a full disk must not end a run that others wait for: what cannot be
// written is dropped, where fmt::print would throw. A signal cuts nothing short while somebody reads, however slowly.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace muster::console {

// Waits for a reader that is slow. When a signal comes meanwhile and the reader takes nothing for two more seconds, the
// rest is dropped, and so is what follows until it takes something again: Ctrl-C must end a program whose reader is
// stuck.
void put(std::FILE* to, std::string_view text);

template <class... Values>
void say(std::FILE* to, fmt::format_string<Values...> format, Values&&... values) {
  put(to, fmt::format(format, std::forward<Values>(values)...));
}

template <class... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  say(stdout, format, std::forward<Values>(values)...);
}

// Whether something said on standard output has not arrived although somebody is there to read it: a full disk. Sends
// on what is still buffered.
bool standard_output_lost();

// Whether standard output is a pipe that nobody reads any more. Asked of the pipe, whoever wrote to it.
bool standard_output_unread();

// Whether something was said on standard output after its reader had gone.
bool standard_output_closed();

}  // namespace muster::console
