#include "console/plain_words.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "base/closest.h"
#include "base/letter_case.h"
#include "base/listed.h"
#include "console/app_outline.h"

namespace muster::console {
namespace {

// The option whose name the message begins with, or null.
const CLI::Option* blamed(const CLI::App& command, std::string_view message) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (name.empty() || !message.starts_with(name)) continue;
    const std::string_view rest = message.substr(name.size());
    if (rest.empty() || rest.front() == ':' || rest.front() == ' ') return option;
  }
  return nullptr;
}

// As it was typed, where it was: `-c` and not `--vus`. What has no dashes is in capitals, as in the help.
std::string spelt(const CLI::Option& option, std::span<const char* const> words) {
  for (const std::string_view word : words) {
    for (const std::string& each : option.get_lnames()) {
      const std::string flag = "--" + each;
      if (word == flag || word.starts_with(flag + "=")) return flag;
    }
    for (const std::string& each : option.get_snames()) {
      if (word.starts_with("-" + each)) return "-" + each;
    }
  }
  const std::string name = option.get_name();
  return name.starts_with('-') ? name : base::upper(name);
}

// "an address", "auto, full or none", "NAME=VALUE".
std::string needed(const CLI::Option& option) {
  if (const std::vector<std::string> choices = choices_of(option); !choices.empty()) return base::listed(choices, "or");
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kKindsOfValue{
      {{"URL", "an address"},
       {"FILE", "a file"},
       {"TIME", "a time such as 30s"},
       {"RATE", "a rate such as 100/s"},
       {"N", "a number"},
       {"TEXT", "a value"},
       {"", "a value"}}};
  std::string type = type_of(option);
  for (const auto& [each, meaning] : kKindsOfValue) {
    if (each == type) return std::string(meaning);
  }
  return type;
}

struct ForeignFlag {
  std::string_view theirs;
  std::string_view tools;
  std::string_view flag;  // of ours, by which one sees whether the command has it
  std::string_view write = {};
};

// What users of other tools type, and what it is called here.
constexpr std::array<ForeignFlag, 17> kForeign{{
    {"-T", "wrk", "--timeout"},
    {"-z", "hey", "-d"},
    {"-q", "hey", "-R"},
    {"-m", "hey and ab", "-X"},
    {"-a", "hey", "-u"},
    {"-A", "ab", "-u"},
    {"-D", "hey", "--body", "--body @FILE"},
    {"-p", "ab", "--body", "--body @FILE"},
    {"-C", "ab", "-H", "-H 'Cookie: NAME=VALUE'"},
    {"-i", "k6", "-n"},
    {"-s", "wrk", "--url", "SCRIPT.lua --url URL"},
    {"--script", "wrk", "--url", "SCRIPT.lua --url URL"},
    {"--rps", "k6", "-R"},
    {"--no-connection-reuse", "k6", "--no-keepalive"},
    {"--insecure-skip-tls-verify", "k6", "--insecure"},
    {"--summary-export", "k6", "--out", "--out json=FILE"},
    {"--tag", "k6", "--label"},
}};

// "; wrk's -T is --timeout here", or an empty text.
std::string foreign(const CLI::App& command, std::string_view name) {
  for (const ForeignFlag& each : kForeign) {
    // A value may stick to a single letter: -z10s.
    const bool letter = each.theirs.size() == 2 && !name.starts_with("--");
    if (letter ? !name.starts_with(each.theirs) : name != each.theirs) continue;
    if (command.get_option_no_throw(std::string(each.flag)) == nullptr) return {};
    return fmt::format("; {} of {} is {} here", each.theirs, each.tools, each.write.empty() ? each.flag : each.write);
  }
  return {};
}

// A word that nothing takes: most often a slip.
std::string unknown(const CLI::App& command, const std::vector<std::string>& words) {
  const auto flag = std::ranges::find_if(
      words, [](const std::string& each) { return each.size() > 1 && each.starts_with('-') && each != "--"; });
  if (flag != words.end()) {
    const std::string name = flag->substr(0, flag->find('='));
    std::vector<std::string> flags;
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& each : option->get_lnames()) flags.push_back("--" + each);
    }
    std::string hint = foreign(command, name);
    if (hint.empty() && name.starts_with("--")) hint = base::did_you_mean(name, flags);
    return fmt::format("unknown flag '{}'{}", name, hint);
  }
  const std::vector<std::string> commands = command_names(command);
  if (commands.empty()) return fmt::format("'{}' is one word too many", words.front());
  std::string hint = base::did_you_mean(words.front(), commands);
  if (hint.empty()) hint = fmt::format("; there are {}", fmt::join(commands, ", "));
  return fmt::format("unknown command '{}'{}", words.front(), hint);
}

// ": At Most 2 required but received 3"; empty if it is something else.
std::string of_count(const std::string& flag, const std::string& rest) {
  constexpr std::string_view kMost = ": At Most ";
  constexpr std::string_view kLeast = ": At least ";
  constexpr std::string_view kBut = " required but received ";
  const bool most = rest.starts_with(kMost);
  const std::size_t but = rest.find(kBut);
  if ((!most && !rest.starts_with(kLeast)) || but == std::string::npos) return {};
  const std::size_t begin = most ? kMost.size() : kLeast.size();
  const std::string limit = rest.substr(begin, but - begin);
  const std::string found = rest.substr(but + kBut.size());
  if (most && limit == "1") return fmt::format("{} is given {} times; it takes one value", flag, found);
  return fmt::format("{} takes at {} {} values, found {}", flag, most ? "most" : "least", limit, found);
}

// `rest` is what is said of the option, behind its name.
std::string of_option(const CLI::Option& option, const std::string& flag, const std::string& rest) {
  constexpr std::string_view kNotIn = " not in {";
  const std::vector<std::string> choices = choices_of(option);
  if (const std::size_t at = rest.rfind(kNotIn); at != std::string::npos && at >= 2 && !choices.empty()) {
    return fmt::format("{}: expected {}, found '{}'", flag, base::listed(choices, "or"), rest.substr(2, at - 2));
  }
  if (std::string said = of_count(flag, rest); !said.empty()) return said;
  if (rest.find(" required ") != std::string::npos && rest.ends_with(" missing")) {
    return fmt::format("{} needs {}", flag, needed(option));
  }
  if (rest == " is required") return fmt::format("{} is missing", flag);
  return flag + rest;
}

}  // namespace

ParsedCommand parsed_command(const CLI::App& root) {
  ParsedCommand made{.app = &root, .name = "muster"};
  for (auto chosen = root.get_subcommands(); !chosen.empty(); chosen = made.app->get_subcommands()) {
    made.app = chosen.front();
    made.name += " " + made.app->get_name();
  }
  return made;
}

std::string in_plain_words(const ParsedCommand& command, const CLI::ParseError& error,
                           std::span<const char* const> words) {
  constexpr std::string_view kWrong = "Could not convert: ";
  const std::string message = error.what();
  const bool no_command = message == "A subcommand is required";
  const bool extras = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  if (const std::vector<std::string> left = command.app->remaining(); (no_command || extras) && !left.empty()) {
    return unknown(*command.app, left);
  }
  if (no_command) {
    return fmt::format("name a command; 'muster help{}' lists them",
                       command.name.substr(std::string_view("muster").size()));
  }
  if (message.starts_with(kWrong)) {
    const std::string rest = message.substr(kWrong.size());
    const CLI::Option* option = blamed(*command.app, rest);
    const std::size_t equals = rest.find(" = ");
    if (option != nullptr && equals != std::string::npos) {
      return fmt::format("{}: '{}' is not a value that it takes", spelt(*option, words), rest.substr(equals + 3));
    }
  }
  const CLI::Option* option = blamed(*command.app, message);
  if (option == nullptr) return message;
  return of_option(*option, spelt(*option, words), message.substr(option->get_name().size()));
}

}  // namespace muster::console
