#include "console/results_command.h"

#include <fmt/format.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "console/colour.h"
#include "console/date_text.h"
#include "console/history.h"
#include "console/job_flags.h"
#include "console/results_list.h"
#include "console/run_history.h"
#include "console/say.h"
#include "report/compare.h"
#include "report/comparison_json.h"
#include "report/comparison_text.h"
#include "report/summary.h"
#include "report/summary_json.h"
#include "report/text_layout.h"
#include "store/data_folder.h"

namespace muster::console {
namespace {

int wrong(std::string_view message) {
  say(stderr, "{}\n", message);
  return kBadInput;
}

int broken(std::string_view message) {
  say(stderr, "{}\n", message);
  return kCouldNotRun;
}

int refused(const Refusal& why) {
  say(stderr, "{}\n", why.message);
  return why.exit_code;
}

base::Duration time_of_day() {
  return std::chrono::duration_cast<base::Duration>(std::chrono::system_clock::now().time_since_epoch());
}

// What the reader's clock is ahead of UTC.
base::Duration zone_at(base::Duration since_1970) {
  const auto seconds = static_cast<time_t>(std::chrono::floor<std::chrono::seconds>(since_1970).count());
  tm parts{};
  return localtime_r(&seconds, &parts) == nullptr ? base::Duration{}
                                                  : base::Duration(std::chrono::seconds(parts.tm_gmtoff));
}

report::SummaryOptions page_options(const ResultsFlags& flags) {
  report::SummaryOptions options;
  options.colour = use_colour(flags.color, stdout);
  return options;
}

// A history to read, or the exit code that says why there is none.
std::expected<std::unique_ptr<store::RunStore>, int> readable() {
  auto history = open_history(store::Purpose::kRead);
  if (!history) return std::unexpected(broken(history.error().message));
  if (*history == nullptr) return std::unexpected(wrong("no run is kept yet; 'muster run' keeps every run"));
  return std::move(*history);
}

std::expected<store::StoredRun, int> load_run(const std::string& reference) {
  auto history = readable();
  if (!history) return std::unexpected(history.error());
  auto record = find_run(**history, reference);
  if (!record) return std::unexpected(refused(record.error()));
  auto run = (*history)->load(record->id);
  if (!run) return std::unexpected(broken(run.error().message));
  return std::move(*run);
}

report::RunInfo info_of(const store::StoredRun& run) {
  report::RunInfo info;
  info.job = run.record.job;
  info.version = run.record.version;
  info.seed = run.result.seed;
  info.started = run.record.started;
  info.source = run.source;
  return info;
}

// Here forms are given without the flag that the messages name.
std::string without_flag(std::string message) {
  constexpr std::string_view kFlag = "--out ";
  for (std::size_t at = message.find(kFlag); at != std::string::npos; at = message.find(kFlag, at)) {
    message.erase(at, kFlag.size());
  }
  return message;
}

// Writes a kept run, and how it compares, to `forms`; each problem is told.
int write_forms(const std::vector<std::string>& forms, const store::StoredRun& run,
                const report::Comparison* comparison, const report::Outputs& outputs) {
  auto set = outputs.make_all(forms, {.test = {}, .history = store::history_files(std::getenv)});
  if (!set) return wrong(without_flag(set.error().message));
  set->open(info_of(run));
  if (comparison != nullptr) set->compared(*comparison);
  set->finish(run.result);
  const std::vector<std::string> problems = standard_output_unread() ? set->problems_elsewhere() : set->problems();
  for (const std::string& problem : problems) say(stderr, "{}\n", without_flag(problem));
  return problems.empty() ? kGood : kCouldNotRun;
}

// The ids of the runs that shall go: those named, those before a date, or with `--keep 0` all.
std::expected<std::vector<std::string>, Refusal> chosen(store::RunStore& history, const ResultsFlags& flags) {
  std::vector<std::string> ids;
  for (const std::string& reference : flags.runs) {
    auto record = find_run(history, reference);
    if (!record) return std::unexpected(record.error());
    ids.push_back(std::move(record->id));
  }
  store::RunQuery query;
  if (!flags.before.empty()) {
    const auto moment = parse_moment(flags.before, time_of_day());
    if (!moment) return refuse("--before: " + moment.error().message);
    query.before = *moment;
  } else if (!flags.keep) {
    return ids;
  }
  auto old = history.list(query);
  if (!old) return unreadable(old.error().message);
  for (store::RunRecord& record : *old) ids.push_back(std::move(record.id));
  return ids;
}

CLI::Option& add_run_argument(CLI::App& command, ResultsFlags& flags, const std::string& doc, int least, int most) {
  return *command.add_option("run", flags.runs, doc)->type_name("RUN")->expected(least, most);
}

// For the Tab key: quick, and quiet where there is nothing to tell.
std::vector<Suggestion> suggested_runs() {
  constexpr std::size_t kShown = 30;
  std::vector<Suggestion> runs = {{.value = "latest", .doc = "the latest run"}};
  auto history = open_history(store::Purpose::kRead);
  if (!history || *history == nullptr) return runs;
  const auto listed = (*history)->list({.job = {}, .before = {}, .skip = 0, .limit = kShown});
  if (!listed) return runs;
  for (const store::RunRecord& record : *listed) {
    runs.push_back({.value = record.id, .doc = fmt::format("{}, {}", record.job, model::to_text(record.verdict))});
  }
  return runs;
}

void add_list_flags(CLI::App& command, ResultsFlags& flags) {
  command.add_option("--limit", flags.limit, "Runs to show, the newest first [20; 1 to 10,000]")
      ->type_name("N")
      ->check(whole_number(1, store::kMaxListed));
  command.add_option("--job", flags.job, "Only runs of this job")->type_name("NAME");
  command.add_flag("--json", flags.json, "Print the list as JSON");
}

}  // namespace

int list_results(const ResultsFlags& flags) {
  auto history = open_history(store::Purpose::kRead);
  if (!history) return broken(history.error().message);
  std::vector<store::RunRecord> runs;
  if (*history != nullptr) {
    auto listed = (*history)->list({.job = flags.job, .before = {}, .skip = 0, .limit = flags.limit});
    if (!listed) return broken(listed.error().message);
    runs = std::move(*listed);
  }
  if (flags.json) {
    say("{}", results_json(runs));
    return kGood;
  }
  if (runs.empty()) {
    say("no run{} is kept yet; 'muster run' keeps every run\n", flags.job.empty() ? "" : " of '" + flags.job + "'");
    return kGood;
  }
  say("{}", results_table(runs, page_options(flags), zone_at(time_of_day())));
  return kGood;
}

int show_result(const ResultsFlags& flags) {
  const auto run = load_run(flags.runs.empty() ? "latest" : flags.runs.front());
  if (!run) return run.error();
  if (flags.json) {
    say("{}", report::summary_json(run->result));
    return kGood;
  }
  say("{}\n  {}\n", report::summary(run->result, page_options(flags)), run->record.id);
  for (const auto& [name, value] : run->record.labels) say("  {}={}\n", name, report::printable(value, true));
  return kGood;
}

int compare_results(const ResultsFlags& flags, const report::Outputs& outputs) {
  auto before = load_named_run(flags.runs.front());
  if (!before) return refused(before.error());
  auto after = load_named_run(flags.runs.size() > 1 ? flags.runs[1] : "latest");
  if (!after) return refused(after.error());
  const report::Comparison comparison =
      report::compare(before->result, before->identity, after->result, after->identity);
  const bool page_printed = flags.html == "-";
  if (page_printed && flags.json) return wrong("--json and --html - both need standard output; give --html a file");
  if (!flags.html.empty()) {
    store::StoredRun run;
    run.record = record_of(after->result, after->identity.labels);
    run.result = std::move(after->result);
    if (const int code = write_forms({"html=" + flags.html}, run, &comparison, outputs); code != kGood) return code;
  }
  if (flags.json) {
    say("{}", report::comparison_json(comparison));
  } else {
    say(page_printed ? stderr : stdout, "{}", report::comparison_text(comparison, page_options(flags)));
  }
  return kGood;
}

int export_result(const ResultsFlags& flags, const report::Outputs& outputs) {
  const auto run = load_run(flags.exported);
  return run ? write_forms(flags.forms, *run, nullptr, outputs) : run.error();
}

int remove_results(const ResultsFlags& flags) {
  const int ways = (flags.runs.empty() ? 0 : 1) + (flags.keep ? 1 : 0) + (flags.before.empty() ? 0 : 1);
  if (ways != 1) return wrong("muster results rm: name runs, or write --keep N, or --before DATE");
  auto history = readable();
  if (!history) return history.error();
  base::Expected<std::size_t> removed;
  if (flags.keep.value_or(0) > 0) {
    removed = (*history)->prune({.runs = *flags.keep});
  } else {
    auto ids = chosen(**history, flags);
    if (!ids) return refused(ids.error());
    removed = (*history)->remove(*ids);
  }
  if (!removed) return broken(removed.error().message);
  if (flags.json) {
    say("{{\"removed\": {}}}\n", *removed);
    return kGood;
  }
  say("{} run{} removed\n", *removed, *removed == 1 ? "" : "s");
  return kGood;
}

void add_results(CLI::App& app, CommandContext& context) {
  CLI::App& command = *app.add_subcommand("results", "List, show, compare, export and remove the runs that are kept");
  command.footer(
      "Examples:\n"
      "  muster results                                   # the latest runs\n"
      "  muster results show latest                       # one of them, as at its end\n"
      "  muster results compare latest~1 latest           # what changed\n"
      "  muster results export r-20261115-k3f8 csv=x.csv  # one in another form\n"
      "  muster results rm --keep 100                     # let old ones go\n"
      "A run is named by its id, by the beginning of it, or as latest, latest~1 and so on. Runs are kept in "
      "$XDG_DATA_HOME/muster, ~/.local/share/muster, or where MUSTER_DATA says.");
  command.require_subcommand(0, 1);
  context.suggestions["RUN"] = suggested_runs;
  const auto flags = std::make_shared<ResultsFlags>();
  const auto act = [flags, &context](auto&& what) {
    flags->color = context.color;
    context.code = what(*flags);
  };
  add_list_flags(command, *flags);
  command.callback([act, &command] {
    if (command.get_subcommands().empty()) act([](const ResultsFlags& given) { return list_results(given); });
  });

  CLI::App& list = *command.add_subcommand("list", "List them, the newest first");
  add_list_flags(list, *flags);
  list.callback([act] { act([](const ResultsFlags& given) { return list_results(given); }); });

  CLI::App& show = *command.add_subcommand("show", "Show one as at its end");
  add_run_argument(show, *flags, "The run [latest]", 0, 1);
  show.add_flag("--json", flags->json, "Print the summary as JSON");
  show.callback([act] { act([](const ResultsFlags& given) { return show_result(given); }); });

  CLI::App& compare = *command.add_subcommand("compare", "Tell what changed between two, and whether it may be chance");
  add_run_argument(compare, *flags, "The run before, and the one after [latest]; also files of --out run=FILE", 1, 2)
      .required();
  compare.add_flag("--json", flags->json, "Print the comparison as JSON");
  compare.add_option("--html", flags->html, "Also write an HTML report of the later run with the comparison")
      ->type_name("FILE");
  compare.callback([act, &context] {
    act([&context](const ResultsFlags& given) { return compare_results(given, context.outputs); });
  });

  CLI::App& out = *command.add_subcommand("export", "Write one as another form, as --out of 'muster run' does");
  out.add_option("run", flags->exported, "The run")->type_name("RUN")->required();
  out.add_option("form", flags->forms, "json=FILE, csv=FILE, html=FILE and so on; several may be given")
      ->type_name("NAME=ARGUMENT")
      ->required();
  out.callback([act, &context] {
    act([&context](const ResultsFlags& given) { return export_result(given, context.outputs); });
  });

  CLI::App& remove = *command.add_subcommand("rm", "Remove some");
  add_run_argument(remove, *flags, "The runs", 0, static_cast<int>(store::kMaxListed));
  remove.add_option("--keep", flags->keep, "Keep so many of the newest, remove the rest")
      ->type_name("N")
      ->check(whole_number(0, 1'000'000'000));
  remove.add_option("--before", flags->before, "Remove those that started before 2026-11-15 (UTC), or 30d ago")
      ->type_name("DATE");
  remove.add_flag("--json", flags->json, "Print how many were removed as JSON");
  remove.callback([act] { act([](const ResultsFlags& given) { return remove_results(given); }); });
}

}  // namespace muster::console
