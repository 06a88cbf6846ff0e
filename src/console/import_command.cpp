#include "console/import_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/escapes.h"
#include "base/time.h"
#include "console/say.h"
#include "report/atomic_file.h"

namespace muster::console {
namespace {

using authoring::Imported;
using authoring::Importer;
using authoring::ImportInput;
using nlohmann::ordered_json;

constexpr std::size_t kNotesShown = 50;
constexpr std::size_t kFileBytes = std::size_t{1}
                                   << 20;  // of a file that the input names and that is written into the job

base::Expected<std::string> read_all(std::FILE* file, std::size_t most) {
  std::string text;
  char chunk[64 * 1024];
  while (const std::size_t count = std::fread(chunk, 1, sizeof(chunk), file)) {
    text.append(chunk, count);
    if (text.size() > most) return base::fail(fmt::format("it is larger than {} bytes", most));
  }
  if (std::ferror(file) != 0) return base::fail(std::strerror(errno));
  return text;
}

// Why it cannot be read, or nothing.
std::string source_problem(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return "it is a folder";
  return access(path.c_str(), R_OK) == 0 ? std::string() : std::strerror(errno);
}

base::Expected<std::string> read_file(const std::string& path, std::size_t most) {
  if (std::string why = source_problem(path); !why.empty()) return base::fail(std::move(why));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), &std::fclose);
  if (file == nullptr) return base::fail(std::strerror(errno));
  return read_all(file.get(), most);
}

int complain(const Importer& importer, std::string_view message, int code) {
  say(stderr, "muster import {}: {}\n", importer.name, message);
  return code;
}

base::Expected<void> read_source(const Importer& importer, const ImportFlags& flags, ImportInput& input) {
  if (!flags.words.empty()) {
    input.words = flags.words;
    input.source = "the command line";
    return {};
  }
  if (flags.file.empty() && isatty(STDIN_FILENO) != 0) {
    return base::fail(fmt::format("expected a file, or - for standard input\nexample: {}", importer.example));
  }
  const std::string path = flags.file.empty() ? "-" : flags.file;
  auto text = path == "-" ? read_all(stdin, input.limits.input_bytes) : read_file(path, input.limits.input_bytes);
  if (!text) return base::fail(fmt::format("cannot read '{}': {}", base::one_line(path), text.error().message));
  input.text = std::move(*text);
  input.source = path == "-" ? "standard input" : std::filesystem::path(path).filename().string();
  return {};
}

// A line that grows on a terminal, for input that takes more than a moment.
class ImportProgress {
 public:
  void show(std::size_t done, std::size_t total) {
    if (!terminal_ || total == 0) return;
    const base::Instant now = base::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(200);
    shown_ = true;
    say(stderr, "\r{} of {} ({} %)", done, total, done * 100 / total);
  }
  void clear() {
    if (shown_) say(stderr, "\r\x1b[K");
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  bool shown_ = false;
  base::Instant next_ = base::now() + std::chrono::milliseconds(500);
};

// What is said of the input on one line, whatever it holds.
std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
  return out;
}

void print_notes(const Imported& made) {
  for (std::size_t i = 0; i < std::min(made.notes.size(), kNotesShown); ++i) {
    const authoring::ImportNote& note = made.notes[i];
    say(stderr, "note: {}{}{}\n", one_line(note.where), note.where.empty() ? "" : ": ", one_line(note.message));
  }
  if (made.notes.size() > kNotesShown) {
    say(stderr, "note: {} more; --json lists them all\n", made.notes.size() - kNotesShown);
  }
}

void print_next(const Imported& made, const std::string& output) {
  const bool file = !output.empty() && output != "-";
  std::string steps = fmt::format("{} request{}", made.steps, made.steps == 1 ? "" : "s");
  if (made.left_out > 0) steps += fmt::format(", {} left out", made.left_out);
  say(stderr, "{}{}; {} note{}\n", file ? fmt::format("wrote {}: ", output) : "", steps, made.notes.size(),
      made.notes.size() == 1 ? "" : "s");
  if (!made.variables.empty()) {
    say(stderr, "set before use: {}\n", fmt::join(made.variables, ", "));
  }
  const std::string name = file ? output : "FILE";
  say(stderr, "next: muster check {0}; muster try {0}; muster run {0}\n", name);
}

void print_json(const base::Expected<Imported>& made, const std::string& output) {
  ordered_json out;
  out["ok"] = made.has_value();
  if (!made) {
    out["error"] = made.error().message;
  } else {
    const bool file = !output.empty() && output != "-";
    out["steps"] = made->steps;
    out["left_out"] = made->left_out;
    out["variables"] = made->variables;
    out["notes"] = ordered_json::array();
    for (const authoring::ImportNote& note : made->notes) {
      out["notes"].push_back({{"where", note.where}, {"message", note.message}});
    }
    out[file ? "file" : "yaml"] = file ? output : made->yaml;
  }
  say("{}\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

// "../" where the job goes to a folder of its own, and the input's files are here.
std::string way_back(const std::string& output) {
  const std::filesystem::path folder = std::filesystem::path(output).parent_path();
  if (folder.empty()) return {};
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  const std::filesystem::path back = error ? std::filesystem::path() : std::filesystem::relative(here, folder, error);
  if (error || back.empty() || back == ".") return {};
  return back.string() + "/";
}

// What stands after `--` is a command; its first word has become the file.
base::Expected<void> take_words(const CLI::App& command, ImportFlags& flags) {
  const std::vector<std::string> left = command.remaining();
  if (left.empty()) return {};
  const auto mark = std::ranges::find(left, std::string_view("--"));
  if (mark != left.begin()) {
    return base::fail(
        fmt::format("unexpected argument '{}'; one file is read, and a command stands after --", left.front()));
  }
  if (flags.file.empty()) return base::fail("expected a command after --");
  flags.words.push_back(std::exchange(flags.file, {}));
  flags.words.insert(flags.words.end(), mark + 1, left.end());
  return {};
}

}  // namespace

int import_from(const Importer& importer, const ImportFlags& flags) {
  const bool to_file = !flags.output.empty() && flags.output != "-";
  const auto refuse = [&](base::Error error, int code) {
    if (flags.json) {
      print_json(std::unexpected(std::move(error)), flags.output);
      return code;
    }
    return complain(importer, error.message, code);
  };
  std::error_code ignored;
  if (to_file && !flags.force && std::filesystem::exists(std::filesystem::symlink_status(flags.output, ignored))) {
    return refuse({fmt::format("'{}' is there already; --force replaces it, or name another file", flags.output)},
                  kBadInput);
  }
  ImportInput input;
  input.settings = flags.settings;
  input.to_here = way_back(flags.output);
  input.read_file = [](const std::string& path) { return read_file(path, kFileBytes); };
  input.file_problem = source_problem;
  ImportProgress progress;
  input.progress = [&progress](std::size_t done, std::size_t total) { progress.show(done, total); };
  if (auto read = read_source(importer, flags, input); !read) return refuse(read.error(), kBadInput);
  const auto made = importer.run(input);
  progress.clear();
  if (!made) return refuse(made.error(), kBadInput);
  if (to_file) {
    if (auto written = report::write_atomically(flags.output, made->yaml); !written) {
      return refuse(written.error(), kCouldNotRun);
    }
  }
  if (flags.json) {
    print_json(made, flags.output);
    return kGood;
  }
  if (!to_file) say("{}", made->yaml);
  std::fflush(stdout);
  print_notes(*made);
  print_next(*made, flags.output);
  return kGood;
}

void add_import(CLI::App& app, CommandContext& context) {
  CLI::App& command =
      *app.add_subcommand("import", "Make a load test from curl commands, a recording or a description");
  std::string examples = "Examples:\n";
  for (const Importer& each : authoring::built_in_importers()) examples += fmt::format("  {}\n", each.example);
  command.footer(examples + "What cannot be taken over is listed on standard error, and with --json as data.");
  command.require_subcommand(1);
  for (const Importer& importer : authoring::built_in_importers()) {
    CLI::App& kind = *command.add_subcommand(std::string(importer.name), std::string(importer.doc));
    kind.footer(fmt::format("Examples:\n  {}", importer.example));
    const auto flags = std::make_shared<ImportFlags>();
    kind.add_option("file", flags->file,
                    importer.takes_words ? "File to read, - for standard input, or a command after -- [-]"
                                         : "File to read, - for standard input [-]")
        ->type_name("FILE");
    // CLI11 would read a word such as [1,2] as a list: the words of a command are taken from what it leaves alone.
    if (importer.takes_words) kind.allow_extras();
    kind.add_option("-o,--output", flags->output, "Where to write the load test [standard output]")
        ->type_name("YAML")
        ->configurable(false);
    kind.add_flag("--force", flags->force, "Replace a file that is there")->configurable(false);
    kind.add_flag("--json", flags->json, "Tell what was made, and all notes, as JSON");
    for (const authoring::ImportOption& option : importer.options) {
      const std::string name(option.name);
      std::string doc(option.doc);
      if (!option.fallback.empty()) doc += fmt::format(" [{}]", option.fallback);
      if (option.value.empty()) {
        kind.add_flag_callback("--" + name, [flags, name] { flags->settings.emplace_back(name, "true"); }, doc);
        continue;
      }
      CLI::Option* added = kind.add_option_function<std::vector<std::string>>(
          "--" + name,
          [flags, name](const std::vector<std::string>& values) {
            for (const std::string& value : values) flags->settings.emplace_back(name, value);
          },
          doc);
      added->type_name(std::string(option.value))->allow_extra_args(false);
      if (option.choices.empty()) continue;
      added->check(CLI::IsMember(std::vector<std::string>(option.choices.begin(), option.choices.end())));
    }
    kind.callback([flags, &importer, &context, &kind] {
      if (auto taken = take_words(kind, *flags); !taken) {
        context.code = complain(importer, taken.error().message, kBadInput);
      } else {
        context.code = import_from(importer, *flags);
      }
    });
  }
}

}  // namespace muster::console
