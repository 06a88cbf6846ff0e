#include "console/new_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "console/flag_check.h"
#include "console/say.h"
#include "console/starting_files.h"
#include "model/http_kind.h"
#include "model/job.h"
#include "protocol/url.h"
#include "report/atomic_file.h"

namespace muster::console {
namespace {

// As a shell takes it.
std::string shell_word(const std::string& text) {
  const bool plain = std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("_./-+@%").contains(static_cast<char>(c));
  });
  if (plain) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

constexpr std::string_view kSchemaFile = "muster.schema.json";

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

int complain(const std::string& message, int code) {
  say(stderr, "muster new: {}\n", message);
  return code;
}

// Beside the file, and named after it: shop.yaml reads shop-users.csv.
std::string data_name(const std::filesystem::path& file) {
  return file.stem().string() + "-users.csv";
}

// What `muster check` would say of the file; nothing if it would take it.
std::string target_problem(const std::string& address) {
  if (const auto url = protocol::parse_url(address); !url) return url.error().message;
  if (const std::size_t hole = address.find("${"); hole != std::string::npos) {
    return fmt::format("expected a plain address, found '{}'; write ${{env.NAME}} into the file afterwards",
                       address.substr(hole));
  }
  std::string problem;
  const model::Inspection inspection{
      .report = [&](const model::Where&, std::string message) { problem = std::move(message); }, .file_problem = {}};
  model::Target target;
  target.address = address;
  model::inspect_http_target(target, inspection);
  return problem;
}

int write_to_stdout(const StartingFile& file, StartingNames names) {
  names.file = "FILE";
  say("{}", starting_text(file, names));
  if (!file.data.empty()) {
    say(stderr,
        "this text reads '{}', which is not written to standard output: muster new FILE --kind {} writes both\n",
        names.data, file.kind);
  }
  return kGood;
}

}  // namespace

int write_new(const NewFlags& flags) {
  if (flags.file.empty())
    return complain("expected the name of a file, found ''; leave it out for test.yaml", kBadInput);
  const bool script = flags.file.ends_with(".lua");
  const StartingFile* const file =
      script && flags.kind == starting_script().kind ? &starting_script() : starting_file(flags.kind);
  if (file == nullptr) return complain(fmt::format("--kind: there is no '{}'", flags.kind), kBadInput);
  if (script && file != &starting_script()) {
    return complain(
        fmt::format("--kind {}: there is none in Lua; name a file that ends in .yaml, or leave --kind out", flags.kind),
        kBadInput);
  }
  if (auto text = check_utf8("--target", flags.target, "write it percent-encoded"); !text) {
    return complain(text.error().message, kBadInput);
  }
  if (const std::string why = target_problem(flags.target); !why.empty()) {
    return complain(fmt::format("--target: {}", why), kBadInput);
  }
  StartingNames names;
  names.target = flags.target;
  if (flags.file == "-") return write_to_stdout(*file, std::move(names));

  const std::filesystem::path path(flags.file);
  const std::string data_path = (path.parent_path() / data_name(path)).string();
  names.file = path.filename().string();
  names.data = data_name(path);
  if (exists((path.parent_path() / kSchemaFile).string())) names.schema = fmt::format("./{}", kSchemaFile);

  std::vector<std::pair<std::string, std::string>> files{{flags.file, starting_text(*file, names)}};
  if (!file->data.empty()) files.emplace_back(data_path, std::string(file->data));
  for (const auto& [each, text] : files) {
    if (flags.force || !exists(each)) continue;
    return complain(fmt::format("'{}' is there already; --force replaces it, or name another file", each), kBadInput);
  }
  for (const auto& [each, text] : files) {
    if (auto written = report::write_atomically(each, text); !written) {
      return complain(written.error().message, kCouldNotRun);
    }
    say("wrote {}\n", each);
  }
  say("next: muster check {0}; muster try {0} --target embedded; muster run {0} --target embedded\n",
      shell_word(flags.file));
  return kGood;
}

void add_new(CLI::App& app, CommandContext& context) {
  CLI::App& command = *app.add_subcommand("new", "Write a commented load test to start from");
  std::string kinds;
  std::vector<std::string> names;
  for (const StartingFile& each : starting_files()) {
    kinds += fmt::format("{}{}: {}", kinds.empty() ? "" : "; ", each.kind, each.doc);
    names.emplace_back(each.kind);
  }
  command.footer(
      "Examples:\n"
      "  muster new                                  # writes test.yaml\n"
      "  muster new shop.yaml --kind flow            # and shop-users.csv\n"
      "  muster new shop.lua                         # a Lua script\n"
      "  muster new - --kind open --target https://shop.test > rate.yaml\n"
      "Each of them runs as it is: muster run test.yaml --target embedded");
  const auto flags = std::make_shared<NewFlags>();
  command
      .add_option("file", flags->file,
                  "Where to write it, as a script if it ends in .lua; - is standard output [test.yaml]")
      ->type_name("JOB");
  command.add_option("--kind", flags->kind, fmt::format("What to begin with. {} [simple]", kinds))
      ->check(CLI::IsMember(names))
      ->configurable(false);
  command.add_option("--target", flags->target, "The address to test [http://127.0.0.1:8080]")
      ->type_name("URL")
      ->configurable(false);
  command.add_flag("--force", flags->force, "Replace files that are there")->configurable(false);
  command.callback([flags, &context] { context.code = write_new(*flags); });
}

}  // namespace muster::console
