#include "console/app_outline.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

namespace muster::console {
namespace {

std::string constant_case(std::string_view text) {
  std::string made;
  for (const char each : text) {
    made += each == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
  }
  return made;
}

std::string positional_name(const CLI::Option& option) {
  return constant_case(option.get_name(true, false));
}

// "FILE", "[FILE]", "RUN...".
std::string positional_form(const CLI::Option& option) {
  std::string form = positional_name(option);
  if (option.get_expected_max() > 1) form += "...";
  return option.get_required() ? form : "[" + form + "]";
}

bool visible(const CLI::App* app) {
  return !app->get_group().empty() && !app->get_name().empty() && !app->get_disabled();
}

std::vector<std::string> usage_of(const CLI::App& app, const std::string& name) {
  const std::string_view flags = app.get_parent() != nullptr && app.get_options().size() <= 1 ? "" : " [flags]";
  if (!app.get_subcommands(visible).empty()) {
    const std::string_view command = app.get_require_subcommand_min() > 0 ? "COMMAND" : "[COMMAND]";
    return {fmt::format("{} {} [flags]", name, command)};
  }
  std::string positionals;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() && !option->get_group().empty()) positionals += " " + positional_form(*option);
  }
  // A file and --url stand for each other in every command that has both.
  if (positionals.starts_with(" [FILE]") && app.get_option_no_throw("--url") != nullptr) {
    std::vector<std::string> forms{fmt::format("{} FILE{}", name, flags), fmt::format("{} --url URL{}", name, flags)};
    if (positionals.size() > std::string_view(" [FILE]").size()) {
      forms.push_back(fmt::format("{} SCRIPT.lua --url URL{} [-- WORD...]", name, flags));
    }
    return forms;
  }
  return {fmt::format("{}{}{}", name, positionals, flags)};
}

// The footer's examples, indented under "Examples:", and what follows them.
void read_footer(const CLI::App& app, CommandOutline& into) {
  const std::string footer = app.get_footer();
  bool examples = false;
  for (std::size_t at = 0; at < footer.size();) {
    const std::size_t end = std::min(footer.find('\n', at), footer.size());
    const std::string line = footer.substr(at, end - at);
    at = end + 1;
    if (line == "Examples:" || line == "Example:") {
      examples = true;
    } else if (examples && line.starts_with(' ')) {
      into.examples.push_back(line.substr(std::min(line.find_first_not_of(' '), line.size())));
    } else {
      examples = false;
      if (!line.empty()) into.notes.push_back(line);
    }
  }
}

FlagOutline flag_of(const CLI::Option& option) {
  FlagOutline flag;
  flag.positional = !option.nonpositional();
  flag.doc = option.get_description();
  flag.group = option.get_group() == "Options" ? std::string(kDefaultGroup) : option.get_group();
  flag.variable = variable_of(option);
  if (flag.positional) {
    flag.names.push_back(positional_name(option));
    const std::vector<std::string> choices = choices_of(option);
    if (!choices.empty()) flag.value = fmt::format("{}", fmt::join(choices, "|"));
    return flag;
  }
  for (const std::string& each : option.get_snames()) flag.names.push_back("-" + each);
  for (const std::string& each : option.get_lnames()) flag.names.push_back("--" + each);
  if (takes_value(option)) {
    const std::vector<std::string> choices = choices_of(option);
    flag.value = choices.empty() ? type_of(option) : fmt::format("{}", fmt::join(choices, "|"));
  }
  return flag;
}

// Those that every command has stand last, and positionals first; otherwise groups as they were first used.
std::vector<std::string> groups_of(const std::vector<FlagOutline>& flags) {
  std::vector<std::string> groups;
  for (const FlagOutline& flag : flags) {
    const bool known = std::ranges::find(groups, flag.group) != groups.end();
    if (!known && flag.group != kEveryCommand) groups.push_back(flag.group);
  }
  groups.emplace_back(kEveryCommand);
  return groups;
}

}  // namespace

CommandOutline outline(const CLI::App& app, std::string name) {
  CommandOutline made;
  made.name = std::move(name);
  made.doc = app.get_description();
  made.usage = usage_of(app, made.name);
  read_footer(app, made);
  std::vector<FlagOutline> flags;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    flags.push_back(flag_of(*option));
    if (option == app.get_help_ptr()) flags.back().group = kEveryCommand;
  }
  for (const std::string& group : groups_of(flags)) {
    for (const FlagOutline& flag : flags) {
      if (flag.group == group) made.flags.push_back(flag);
    }
  }
  for (const CLI::App* each : app.get_subcommands(visible)) {
    made.commands.emplace_back(each->get_name(), each->get_description());
  }
  return made;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands(visible)) names.push_back(each->get_name());
  return names;
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find(":{");
  const std::size_t close = type.find('}', open == std::string::npos ? 0 : open);
  std::vector<std::string> choices;
  if (open == std::string::npos || close == std::string::npos) return choices;
  for (std::size_t at = open + 2; at < close;) {
    const std::size_t end = std::min(type.find(',', at), close);
    choices.push_back(type.substr(at, end - at));
    at = end + 1;
  }
  return choices;
}

std::string type_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::string name = type.substr(0, type.find(":{"));
  if (name == "UINT" || name == "INT" || name == "FLOAT") return "N";
  return name;
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

std::string variable_of(const CLI::Option& option) {
  if (!option.get_configurable() || option.get_lnames().empty()) return {};
  return "MUSTER_" + constant_case(option.get_lnames().front());
}

}  // namespace muster::console
