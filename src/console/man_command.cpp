#include "console/man_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/closest.h"
#include "console/man_page.h"
#include "console/say.h"
#include "report/atomic_file.h"

namespace muster::console {
namespace {

struct ManFlags {
  std::vector<std::string> words;
  std::string folder;
};

int write_pages(const std::vector<ManPage>& pages, const std::string& folder) {
  // A mistyped path should not leave folders behind.
  std::error_code error;
  const std::filesystem::path place = std::filesystem::path(folder) / "";
  const std::filesystem::path above = place.parent_path().parent_path();
  if (!above.empty() && !std::filesystem::exists(above, error)) {
    say(stderr,
        "muster man: cannot make the folder '{}': there is no folder '{}' to make it in; 'mkdir -p' makes both\n",
        folder, above.string());
    return kCouldNotRun;
  }
  std::filesystem::create_directory(place, error);
  if (error) {
    say(stderr, "muster man: cannot make the folder '{}': {}\n", folder, error.message());
    return kCouldNotRun;
  }
  for (const ManPage& page : pages) {
    const std::string path = (std::filesystem::path(folder) / (page.name + ".1")).string();
    if (auto written = report::write_atomically(path, page.text); !written) {
      say(stderr, "muster man: {}\n", written.error().message);
      return kCouldNotRun;
    }
  }
  return kGood;
}

int man(const CLI::App& app, const ManFlags& flags) {
  const std::vector<ManPage> pages = man_pages(app);
  if (!flags.folder.empty()) return write_pages(pages, flags.folder);
  const std::string wanted =
      flags.words.empty() ? app.get_name() : fmt::format("{}-{}", app.get_name(), fmt::join(flags.words, "-"));
  std::vector<std::string> names;
  for (const ManPage& page : pages) {
    names.push_back(page.name);
    if (page.name != wanted) continue;
    say("{}", page.text);
    return kGood;
  }
  say(stderr, "muster man: there is no page '{}'{}\n", wanted, base::did_you_mean(wanted, names));
  return kBadInput;
}

}  // namespace

void add_man(CLI::App& app, CommandContext& context) {
  CLI::App& command = *app.add_subcommand("man", "Print a manual page, or write all of them into a folder");
  command.footer(
      "Examples:\n"
      "  muster man run | man -l -\n"
      "  muster man --to ~/.local/share/man/man1");
  const auto flags = std::make_shared<ManFlags>();
  command.add_option("command", flags->words, "Of which command [muster itself]")->type_name("COMMAND");
  command.add_option("--to", flags->folder, "Write every page into this folder, which is made if only it is missing")
      ->type_name("FOLDER")
      ->configurable(false);
  command.callback([flags, &app, &context] { context.code = man(app, *flags); });
}

}  // namespace muster::console
