// What CLI11 says of a command line that it does not take, as a person would say it: with the flag as it was typed,
// what it takes, and what was meant. Pure.
#pragma once

#include <span>
#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace muster::console {

struct ParsedCommand {
  const CLI::App* app = nullptr;
  std::string name;  // with those it belongs to: "muster results show"
};

// The innermost command that was named.
ParsedCommand parsed_command(const CLI::App& root);

// `words` is the whole command line.
std::string in_plain_words(const ParsedCommand& command, const CLI::ParseError& error,
                           std::span<const char* const> words);

}  // namespace muster::console
