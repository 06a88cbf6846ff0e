// What a command looks like to a person: read off the CLI11 app once, and told by --help and by the man page. So
// neither of them knows any command. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace muster::console {

struct FlagOutline {
  std::vector<std::string> names;  // "-c", "--vus"; of a positional its name in capitals
  std::string value;               // "N", "auto|ci|none"; empty: it takes none
  std::string doc;
  std::string group;
  std::string variable;  // of the environment: MUSTER_CORES; empty: none
  bool positional = false;
};

struct CommandOutline {
  std::string name;  // "muster run"
  std::string doc;
  std::vector<std::string> usage;     // one or two forms
  std::vector<std::string> examples;  // lines as they stand
  std::vector<std::string> notes;     // what else the footer says, line by line
  std::vector<FlagOutline> flags;     // positionals first, then group by group; hidden ones left out
  std::vector<std::pair<std::string, std::string>> commands;  // name and sentence; hidden ones left out
};

// `name` is how the command is called, with those it belongs to.
CommandOutline outline(const CLI::App& app, std::string name);

// The names of the commands below this one; hidden ones left out.
std::vector<std::string> command_names(const CLI::App& app);
// The values that the option takes, if they are few and known.
std::vector<std::string> choices_of(const CLI::Option& option);
// The option's type name without its choices: "N", "FILE".
std::string type_of(const CLI::Option& option);
bool takes_value(const CLI::Option& option);
// MUSTER_<FLAG>, from the first long name; empty where the option is not to come from the environment.
std::string variable_of(const CLI::Option& option);

// The heading of flags that did not ask for one, and of those that every command has.
constexpr std::string_view kDefaultGroup = "Flags";
constexpr std::string_view kEveryCommand = "In every command";

}  // namespace muster::console
