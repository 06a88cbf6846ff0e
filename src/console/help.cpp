#include "console/help.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/closest.h"
#include "console/colour.h"
#include "console/say.h"
#include "report/text_layout.h"

namespace muster::console {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kDocColumn = 27;  // where the sentences begin

std::string heading(std::string_view text, bool colour) {
  return colour ? fmt::format("\n\x1b[1m{}:\x1b[0m\n", text) : fmt::format("\n{}:\n", text);
}

// "  name                     sentence", wrapped under itself; a long name has a line of its own.
void append_row(std::string& out, const std::string& name, const std::string& doc) {
  std::string before = "  " + name;
  if (report::width(before) + 2 > kDocColumn) {
    out += before + "\n";
    before.clear();
  }
  const std::vector<std::string> lines = report::wrapped(doc, kColumns - kDocColumn);
  if (lines.empty()) out += before + "\n";
  for (const std::string& line : lines) {
    out += report::left(before, kDocColumn) + line + "\n";
    before.clear();
  }
}

// Where a shell would cut it: at spaces outside of quotes.
std::vector<std::string> shell_words(std::string_view text) {
  std::vector<std::string> words(1);
  char quote = 0;
  for (const char each : text) {
    if (quote == 0 && each == ' ') {
      words.emplace_back();
      continue;
    }
    if (quote == each) {
      quote = 0;
    } else if (quote == 0 && (each == '\'' || each == '"')) {
      quote = each;
    }
    words.back() += each;
  }
  return words;
}

// An example that is too long goes on behind a backslash, as a shell takes it.
void append_example(std::string& out, const std::string& example) {
  constexpr std::size_t kRoom = kColumns - 2;
  std::string line = "  " + example;
  if (report::width(line) <= kColumns) {
    out += line + "\n";
    return;
  }
  line = " ";
  for (const std::string& word : shell_words(example)) {
    if (report::width(line) + 1 + report::width(word) > kRoom) {
      out += line + " \\\n";
      line = "     ";
    }
    line += " " + word;
  }
  out += line + "\n";
}

void append_wrapped(std::string& out, const std::string& text) {
  for (const std::string& line : report::wrapped(text, kColumns)) out += line + "\n";
}

class HelpFormatter : public CLI::FormatterBase {
 public:
  explicit HelpFormatter(const CommandContext& context) : context_(context) {}

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode /*mode*/) const override {
    return help_text(outline(*app, std::move(name)), use_colour(context_.color, stdout));
  }

 private:
  const CommandContext& context_;
};

int show_help(const CLI::App& root, const std::vector<std::string>& words) {
  const CLI::App* command = &root;
  std::string name = "muster";
  for (const std::string& word : words) {
    std::vector<std::string> names;
    const CLI::App* next = nullptr;
    for (const CLI::App* each : command->get_subcommands(nullptr)) {
      if (!each->get_group().empty()) names.push_back(each->get_name());
      if (each->check_name(word)) next = each;
    }
    if (next == nullptr) {
      say(stderr, "{} help: unknown command '{}'{}\n'{} --help' lists the commands\n", name, word,
          base::did_you_mean(word, names), name);
      return kBadInput;
    }
    command = next;
    name += " " + next->get_name();
  }
  say("{}", root.get_formatter()->make_help(command, name, CLI::AppFormatMode::Normal));
  return kGood;
}

}  // namespace

std::string help_text(const CommandOutline& command, bool colour) {
  std::string out;
  append_wrapped(out, command.doc);
  std::string_view before = "Usage: ";
  out += '\n';
  for (const std::string& form : command.usage) {
    out += fmt::format("{}{}\n", before, form);
    before = "       ";
  }
  if (!command.examples.empty()) out += heading("Examples", colour);
  for (const std::string& each : command.examples) append_example(out, each);
  if (!command.commands.empty()) out += heading("Commands", colour);
  for (const auto& [name, doc] : command.commands) append_row(out, name, doc);
  std::string_view group;
  for (const FlagOutline& flag : command.flags) {
    if (flag.group != group) out += heading(flag.group, colour);
    group = flag.group;
    const std::string names = fmt::format("{}", fmt::join(flag.names, ", "));
    append_row(out, flag.value.empty() ? names : names + " " + flag.value, flag.doc);
  }
  if (!command.notes.empty()) out += '\n';
  for (const std::string& note : command.notes) append_wrapped(out, note);
  return out;
}

std::shared_ptr<CLI::FormatterBase> help_formatter(const CommandContext& context) {
  return std::make_shared<HelpFormatter>(context);
}

void add_help(CLI::App& app, CommandContext& context) {
  CLI::App& command = *app.add_subcommand("help", "Explain a command, with examples");
  command.footer("Examples:\n  muster help run\n  muster help explain");
  const auto words = std::make_shared<std::vector<std::string>>();
  command.add_option("command", *words, "The command to explain [all of them, in short]")->type_name("COMMAND");
  command.callback([words, &app, &context] { context.code = show_help(app, *words); });
}

}  // namespace muster::console
