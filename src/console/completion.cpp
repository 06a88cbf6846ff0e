#include "console/completion.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "console/app_outline.h"

namespace muster::console {
namespace {

const CLI::Option* long_flag(const CLI::App& app, std::string_view name) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->check_lname(std::string(name))) return option;
  }
  return nullptr;
}

const CLI::Option* short_flag(const CLI::App& app, char name) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->check_sname(std::string(1, name))) return option;
  }
  return nullptr;
}

// The option whose value has to follow `word`; null if none.
const CLI::Option* awaits_value(const CLI::App& app, std::string_view word) {
  if (word.starts_with("--")) {
    if (word.find('=') != std::string_view::npos) return nullptr;
    const CLI::Option* option = long_flag(app, word.substr(2));
    return option != nullptr && takes_value(*option) ? option : nullptr;
  }
  for (std::size_t i = 1; i < word.size(); ++i) {
    const CLI::Option* option = short_flag(app, word[i]);
    if (option == nullptr) return nullptr;
    if (takes_value(*option)) return i + 1 == word.size() ? option : nullptr;
  }
  return nullptr;
}

const CLI::App* command_named(const CLI::App& app, std::string_view word) {
  for (const CLI::App* each : app.get_subcommands(nullptr)) {
    if (each->check_name(std::string(word))) return each;
  }
  return nullptr;
}

// The positional that takes word number `count`; the last one takes what is left if it takes several.
const CLI::Option* positional_at(const CLI::App& app, std::size_t count) {
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    const auto most = static_cast<std::size_t>(std::max(1, option->get_expected_max()));
    if (count < most) return option;
    count -= most;
  }
  return nullptr;
}

void offer(Completion& completion, std::string value, std::string doc, std::string_view typed) {
  if (value.starts_with(typed)) completion.values.push_back({.value = std::move(value), .doc = std::move(doc)});
}

// `before` stands in front of every value: "--ui=" of a word that holds flag and value.
void offer_values(Completion& completion, const CLI::Option& option, std::string_view typed, const std::string& before,
                  const CommandContext& context) {
  for (std::string& choice : choices_of(option)) offer(completion, before + choice, {}, before + std::string(typed));
  const std::string type = type_of(option);
  if (const auto known = context.suggestions.find(type); known != context.suggestions.end()) {
    for (Suggestion& each : known->second()) {
      offer(completion, before + each.value, std::move(each.doc), before + std::string(typed));
    }
    // What follows "json=" is most likely a file.
    if (typed.find('=') != std::string_view::npos) completion.paths = Completion::Paths::kFiles;
    return;
  }
  if (type == "YAML") completion.endings = {".yaml", ".yml"};
  if (type == "JOB") completion.endings = {".yaml", ".yml", ".lua"};
  if (type == "YAML" || type == "JOB" || type == "FILE") completion.paths = Completion::Paths::kFiles;
  if (type == "FOLDER") completion.paths = Completion::Paths::kFolders;
}

void offer_flags(Completion& completion, const CLI::App& app, std::string_view typed) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) {
      offer(completion, "--" + name, option->get_description(), typed);
    }
    if (typed.starts_with("--")) continue;
    for (const std::string& name : option->get_snames()) {
      offer(completion, "-" + name, option->get_description(), typed);
    }
  }
}

void offer_commands(Completion& completion, const CLI::App& app, std::string_view typed) {
  for (const CLI::App* each : app.get_subcommands(nullptr)) {
    if (!each->get_group().empty()) offer(completion, each->get_name(), each->get_description(), typed);
  }
}

}  // namespace

Completion complete(const CLI::App& app, std::span<const std::string> words, const CommandContext& context) {
  Completion completion;
  if (words.empty()) return completion;
  const CLI::App* command = &app;
  const CLI::Option* awaited = nullptr;
  std::size_t positionals = 0;
  bool flags_over = false;
  for (const std::string& word : words.first(words.size() - 1)) {
    if (awaited != nullptr) {
      awaited = nullptr;
    } else if (!flags_over && word == "--") {
      flags_over = true;
    } else if (!flags_over && word.size() > 1 && word.starts_with('-')) {
      awaited = awaits_value(*command, word);
    } else if (const CLI::App* next = command_named(*command, word); next != nullptr && positionals == 0) {
      command = next;
    } else {
      ++positionals;
    }
  }
  const std::string& typed = words.back();
  if (awaited != nullptr) {
    offer_values(completion, *awaited, typed, {}, context);
  } else if (const std::size_t equals = typed.find('='); typed.starts_with("--") && equals != std::string::npos) {
    const CLI::Option* option = long_flag(*command, typed.substr(2, equals - 2));
    if (option == nullptr || !takes_value(*option)) return completion;
    offer_values(completion, *option, typed.substr(equals + 1), typed.substr(0, equals + 1), context);
  } else if (!flags_over && typed.starts_with('-')) {
    offer_flags(completion, *command, typed);
  } else {
    if (positionals == 0) offer_commands(completion, *command, typed);
    const CLI::Option* option = positional_at(*command, positionals);
    if (option != nullptr && type_of(*option) == "COMMAND") offer_commands(completion, app, typed);
    if (option != nullptr) offer_values(completion, *option, typed, {}, context);
  }
  return completion;
}

std::string completion_lines(const Completion& completion) {
  std::string lines;
  for (const Suggestion& each : completion.values) {
    std::string doc = each.doc;
    std::ranges::replace_if(doc, [](char c) { return c == '\t' || c == '\n'; }, ' ');
    lines += doc.empty() ? each.value + "\n" : fmt::format("{}\t{}\n", each.value, doc);
  }
  switch (completion.paths) {
    case Completion::Paths::kNone:
      return lines + ":none\n";
    case Completion::Paths::kFolders:
      return lines + ":folders\n";
    case Completion::Paths::kFiles:
      return lines +
             fmt::format(":files{}{}\n", completion.endings.empty() ? "" : " ", fmt::join(completion.endings, " "));
  }
  return lines;
}

}  // namespace muster::console
