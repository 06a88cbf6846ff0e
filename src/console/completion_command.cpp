#include "console/completion_command.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "console/completion.h"
#include "console/say.h"

namespace muster::console {

void add_completion(CLI::App& app, CommandContext& context) {
  CLI::App& command = *app.add_subcommand("completion", "Print the script that completes muster's words in a shell");
  command.footer(
      "Examples:\n"
      "  eval \"$(muster completion bash)\"       # now, or in ~/.bashrc\n"
      "  source <(muster completion zsh)        # now, or in ~/.zshrc\n"
      "  muster completion fish | source        # now, or in config.fish\n"
      "Where muster was installed from a package, there is nothing to do.");
  const auto shell = std::make_shared<std::string>();
  command.add_option("shell", *shell, "Which shell: bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command.callback([shell, &context] {
    say("{}", completion_script(*shell));
    context.code = kGood;
  });
}

std::optional<int> answer_completion(const CLI::App& app, int argc, const char* const* argv,
                                     const CommandContext& context) {
  if (argc < 2 || std::string_view(argv[1]) != "complete") return std::nullopt;
  std::vector<std::string> words(argv + 2, argv + argc);
  if (!words.empty() && words.front() == "--") words.erase(words.begin());
  say("{}", completion_lines(complete(app, words, context)));
  return kGood;
}

}  // namespace muster::console
