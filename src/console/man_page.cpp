#include "console/man_page.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/letter_case.h"

namespace muster::console {
namespace {

struct ExitCode {
  int code;
  std::string_view meaning;
};
constexpr ExitCode kExitCodes[] = {
    {0, "Good."},
    {1, "It could not be done; with --strict, the run was good but its result is marked as doubtful."},
    {2, "Bad input: flags or file. Nothing was sent."},
    {99, "A threshold failed, or every request or iteration did; of try: a step failed."},
    {130, "Interrupted. The summary is whole all the same."},
};

// Text as it stands: no character means anything to roff, and hyphens can be copied into a shell.
std::string roff(std::string_view text) {
  std::string made;
  for (const char each : text) {
    switch (each) {
      case '\\':
        made += "\\e";
        break;
      case '-':
        made += "\\-";
        break;
      case '\'':
        made += "\\(aq";
        break;
      case '`':
        made += "\\(ga";
        break;
      case '^':
        made += "\\(ha";
        break;
      case '~':
        made += "\\(ti";
        break;
      default:
        made += each;
    }
  }
  // A control character at the start of a line would make it a request.
  return made.starts_with('.') ? "\\&" + made : made;
}

std::string dashed(std::string name) {
  std::ranges::replace(name, ' ', '-');
  return name;
}

void append_examples(std::string& out, const CommandOutline& command) {
  if (command.examples.empty()) return;
  out += ".SH EXAMPLES\n.nf\n";
  for (const std::string& each : command.examples) out += roff(each) + "\n";
  out += ".fi\n";
}

void append_flags(std::string& out, const CommandOutline& command) {
  if (command.flags.empty()) return;
  out += ".SH OPTIONS\n";
  std::string_view group;
  for (const FlagOutline& flag : command.flags) {
    if (flag.group != group) out += fmt::format(".SS {}\n", roff(flag.group));
    group = flag.group;
    std::string names;
    for (const std::string& name : flag.names)
      names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(name));
    if (!flag.value.empty()) names += fmt::format(" \\fI{}\\fR", roff(flag.value));
    out += fmt::format(".TP\n{}\n{}.\n", names, roff(flag.doc));
  }
}

void append_environment(std::string& out, const CommandOutline& command) {
  std::string rows;
  for (const FlagOutline& flag : command.flags) {
    if (flag.variable.empty()) continue;
    rows += fmt::format(".TP\n\\fB{}\\fR\nThe same as {}; what is typed wins.\n", roff(flag.variable),
                        roff(flag.names.back()));
  }
  out += ".SH ENVIRONMENT\n" + rows;
  out += ".TP\n\\fBNO_COLOR\\fR\nSet to anything: no colours, unless \\-\\-color always asks for them.\n";
}

std::string page_of(const CommandOutline& command) {
  const std::string name = dashed(command.name);
  std::string out = fmt::format(".TH {} 1 \"\" \"muster {}\" \"muster\"\n", roff(base::upper(name)), MUSTER_VERSION);
  out += fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n", roff(name), roff(command.doc));
  for (std::size_t i = 0; i < command.usage.size(); ++i) {
    out += fmt::format("{}{}\n", i == 0 ? "" : ".br\n", roff(command.usage[i]));
  }
  append_examples(out, command);
  if (!command.commands.empty()) out += ".SH COMMANDS\n";
  for (const auto& [each, doc] : command.commands) {
    out += fmt::format(".TP\n\\fB{}\\fR\n{}.\n", roff(each), roff(doc));
  }
  append_flags(out, command);
  append_environment(out, command);
  out += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : kExitCodes) out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", code, roff(meaning));
  if (!command.notes.empty()) out += ".SH NOTES\n";
  for (const std::string& note : command.notes) out += roff(note) + "\n";
  return out;
}

void add_pages(std::vector<ManPage>& pages, const CLI::App& app, const std::string& name) {
  const CommandOutline command = outline(app, name);
  pages.push_back({.name = dashed(name), .text = page_of(command)});
  for (const CLI::App* each : app.get_subcommands(nullptr)) {
    if (!each->get_group().empty()) add_pages(pages, *each, name + " " + each->get_name());
  }
}

}  // namespace

std::vector<ManPage> man_pages(const CLI::App& app) {
  std::vector<ManPage> pages;
  add_pages(pages, app, app.get_name());
  for (std::size_t i = 0; i < pages.size(); ++i) {
    pages[i].text += ".SH SEE ALSO\n";
    std::string separator;
    for (const ManPage& other : pages) {
      // The first page names all others; those name the first.
      if (&other == &pages[i] || (i > 0 && &other != pages.data())) continue;
      pages[i].text += fmt::format("{}\\fB{}\\fR(1)", separator, roff(other.name));
      separator = ",\n";
    }
    pages[i].text += '\n';
  }
  return pages;
}

}  // namespace muster::console
