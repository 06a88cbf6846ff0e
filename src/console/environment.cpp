#include "console/environment.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <span>
#include <string_view>

#include "console/app_outline.h"

namespace muster::console {
namespace {

bool typed(const CLI::Option& option, std::span<const char* const> words) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    for (const std::string& name : option.get_lnames()) {
      const std::string flag = "--" + name;
      if (word == flag || word.starts_with(flag + "=")) return true;
    }
    return std::ranges::any_of(option.get_snames(),
                               [&](const std::string& name) { return word.starts_with("-" + name); });
  });
}

CLI::App* command_named(CLI::App& app, std::string_view word) {
  for (CLI::App* each : app.get_subcommands([](CLI::App*) { return true; })) {
    if (each->check_name(std::string(word))) return each;
  }
  return nullptr;
}

}  // namespace

void take_environment(CLI::App& app, int argc, const char* const* argv) {
  const std::span<const char* const> words(argv, static_cast<std::size_t>(argc));
  CLI::App* command = &app;
  for (const std::string_view word : words.subspan(std::min<std::size_t>(1, words.size()))) {
    if (CLI::App* next = command_named(*command, word)) command = next;
  }
  for (CLI::Option* option : command->get_options()) {
    if (const std::string name = variable_of(*option); !name.empty()) option->envname(name);
  }
}

std::string blamed_variable(const CLI::App& command, const std::string& message, int argc, const char* const* argv) {
  const std::span<const char* const> words(argv, static_cast<std::size_t>(argc));
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_envname();
    if (name.empty() || std::getenv(name.c_str()) == nullptr || typed(*option, words)) continue;
    if (message.find(option->get_name()) != std::string::npos) return fmt::format(" (from {})", name);
  }
  return {};
}

}  // namespace muster::console
