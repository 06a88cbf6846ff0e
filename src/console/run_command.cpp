#include "console/run_command.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>

#include "console/colour.h"
#include "console/embedded_target.h"
#include "console/job_flags.h"
#include "console/job_warnings.h"
#include "console/outputs_command.h"
#include "console/progress_view.h"
#include "console/say.h"
#include "console/signals.h"
#include "console/suspension.h"
#include "console/ui_mode.h"
#include "engine/job_run.h"
#include "engine/redaction.h"
#include "reactor/descriptors.h"
#include "report/comparison_text.h"
#include "report/summary.h"
#include "report/summary_json.h"
#include "store/data_folder.h"

namespace muster::console {
namespace {

constexpr auto kLookInterval = std::chrono::milliseconds(50);
constexpr auto kOutputInterval = std::chrono::seconds(1);

int bad_input(const std::string& message) {
  say(stderr, "{}\n", message);
  return kBadInput;
}

// What the user wants while the run goes on; true if it is the end.
bool act_on(const Wish& wish, engine::JobRun& run, ProgressView& view) {
  switch (wish.kind) {
    case Wish::Kind::kPause:
      run.pause();
      return false;
    case Wish::Kind::kResume:
      run.resume();
      return false;
    case Wish::Kind::kScale:
      run.scale(wish.factor);
      return false;
    case Wish::Kind::kStop:
      view.stopping("stopping: requests under way may finish, then the run is judged; q ends it sooner");
      run.stop_by_hand();
      return false;
    case Wish::Kind::kInterrupt:
      return true;
  }
  return false;
}

// Ctrl-Z: the load stands still until the process is continued. Executors ignore the signal, so that they can be told.
void stand_still(engine::JobRun& run, ProgressView& view, Suspension& suspension) {
  const bool by_key = run.paused();
  if (!by_key) run.pause();
  const bool held = run.paused() && !by_key;
  const base::Instant began = base::now();
  view.step_aside();
  suspension.stop_here();
  if (!by_key) run.resume();
  if (held) view.stood_still(base::now() - began);
}

void drive(engine::JobRun& run, report::OutputSet& outputs, ProgressView& view, const Signals& signals) {
  int by_key = 0;
  int acted_on = 0;
  base::Instant next_output = base::now() + kOutputInterval;
  Suspension suspension;
  while (run.advance()) {
    if (suspension.asked()) {
      stand_still(run, view, suspension);
      continue;  // what is there to show is from before
    }
    view.show(run.result());
    if (base::now() >= next_output) {
      outputs.write(run.result());
      next_output += kOutputInterval;
    }
    const int asked = signals.count() + by_key;
    if (asked > acted_on) {
      run.interrupted();
      if (acted_on == 0) {
        view.stopping("stopping: requests under way may finish; press Ctrl-C again to end at once");
        run.stop("interrupted");
      } else {
        view.stopping("ending at once");
        run.abort();
      }
      acted_on = asked;
    }
    for (const Wish& wish : view.wait(kLookInterval)) by_key += act_on(wish, run, view) ? 1 : 0;
  }
  view.end();
}

// What the user wrote after --out is told with what went wrong, and may hold a secret.
std::string without_secrets(std::string text, const model::Job& job) {
  engine::redact(text, engine::spellings(job.secrets));
  return text;
}

void print_result(const model::RunResult& result, const RunFlags& flags, const report::OutputSet& outputs,
                  const RunHistory& history, const model::Job& job) {
  // Standard output that an output has written to is not spoilt by text for people.
  std::FILE* const page = outputs.takes_standard_output() ? stderr : stdout;
  if (flags.json) {
    say(page, "{}\n", report::summary_json(result, history.comparison()));
  } else {
    report::SummaryOptions options;
    options.colour = use_colour(flags.color, page);
    options.unicode = isatty(fileno(page)) != 1 || unicode_wanted(look_around());
    std::string text = report::summary(result, options);
    if (history.comparison() != nullptr) text += "\n" + report::comparison_text(*history.comparison(), options);
    if (const std::string farewell = history.farewell(result); !farewell.empty()) text += "\n  " + farewell + "\n";
    put(page, text);  // at once: a reader that has seen enough (`| head`) is not to be asked again
  }
  for (const std::string& problem : outputs.problems()) say(stderr, "{}\n", without_secrets(problem, job));
  for (const std::string& problem : history.problems()) say(stderr, "{}\n", problem);
}

// Whoever read the summary has gone, as `tee` does on Ctrl-C: what was measured need not be lost with it.
int closed_output(const model::RunResult& result) {
  const std::string again = result.id.empty()
                                ? "the run is not kept; next time, write the summary to a file by --out json=FILE"
                                : fmt::format("to see it: muster results show {}", result.id);
  say(stderr, "standard output was closed before all of the summary was printed; {}\n", again);
  return result.exit_code == kGood ? kCouldNotRun : result.exit_code;
}

}  // namespace

std::uint32_t physical_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof(allowed), &allowed);
  std::set<std::string> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    std::ifstream siblings(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
    std::string list;
    cores.insert(std::getline(siblings, list) ? list : std::to_string(cpu));
  }
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(cores.size()));
}

int run(const RunFlags& flags, const engine::Registry& registry, const report::Outputs& known_outputs) {
  reactor::raise_descriptor_limit();
  JobFlags job_flags = flags.job;
  EmbeddedTarget embedded;
  if (auto ready = embedded.serve_if_named(job_flags.target); !ready) {
    say(stderr, "{}\n", ready.error().message);
    return kCouldNotRun;
  }
  auto job = load(job_flags, registry);
  if (!job) return bad_input(job.error().message);
  auto history = RunHistory::prepare(flags.history, *job);
  if (!history) {
    say(stderr, "{}\n", history.error().message);
    return history.error().exit_code;
  }

  auto outputs_made = known_outputs.make_all(flags.outputs, {.test = job_flags.file,
                                                             .read = job->files,
                                                             .baseline = history->baseline_file(),
                                                             .history = store::history_files(std::getenv)});
  if (!outputs_made) return bad_input(without_secrets(outputs_made.error().message, *job));
  report::OutputSet& outputs = *outputs_made;
  if (flags.json || outputs.takes_standard_output()) keep_standard_output(*job);
  const engine::JobOptions options{.cores = flags.cores != 0 ? flags.cores : physical_cores(),
                                   .in_process = false,
                                   .strict = flags.strict,
                                   .trace = {}};
  const Signals signals;  // before the first executor is forked: a Ctrl-C must not end it before it knows what to do
  engine::JobRun job_run(*job, registry, options);
  const model::RunResult& result = job_run.result();
  outputs.open({.job = result.job,
                .version = result.version,
                .seed = result.seed,
                .started = std::chrono::system_clock::now().time_since_epoch(),
                .source = job->source});
  // Better known now than after an hour.
  if (const auto problems = outputs.problems(); !problems.empty())
    return bad_input(without_secrets(fmt::format("{}", fmt::join(problems, "\n")), *job));
  if (const std::string warning = datacenters_warning(*job); !warning.empty())
    say(stderr, "worth a look: {}\n", warning);
  // Before the first executor is forked, since what it writes to standard error is the view's to show.
  // What an output writes to the terminal would tear the screen.
  const std::string ui = flags.ui == "auto" && outputs.takes_standard_output() ? "ci" : flags.ui;
  auto view = make_view(ui, use_colour(flags.color, stderr), *job, registry, options.cores);
  if (!view) return bad_input(view.error().message);
  if (auto started = job_run.start(); !started) {
    (*view)->end();
    return bad_input(started.error().message);
  }
  for (const std::string& each : job_run.warnings()) say(stderr, "worth a look: {}\n", each);
  drive(job_run, outputs, **view, signals);
  // Any signal with a handler ends the wait for whoever reads an output: those of the screen are not meant so.
  view->reset();
  model::RunResult ended = result;
  history->conclude(ended, flags.strict);
  if (history->comparison() != nullptr) outputs.compared(*history->comparison());
  outputs.finish(ended);
  // What was asked for is not there, even though the run was good.
  if (ended.exit_code == kGood && !outputs.problems().empty()) ended.exit_code = kCouldNotRun;
  print_result(ended, flags, outputs, *history, *job);
  return standard_output_closed() ? closed_output(ended) : ended.exit_code;
}

void add_run(CLI::App& app, CommandContext& context) {
  CLI::App& command = *app.add_subcommand("run", "Run a load test and judge it");
  command.footer(
      "Examples:\n"
      "  muster run test.yaml\n"
      "  muster run test.yaml --set load.vus=500 -e TOKEN=abc --out json=result.json\n"
      "  muster run --url http://127.0.0.1:8080/ -c 100 -d 30s\n"
      "  muster run --url https://shop.test/cart --body '{\"id\":7}' -R 200 -d 1m\n"
      "  muster run script.lua --url http://127.0.0.1:8080/ -c 100 -d 30s -- words   # wrk's\n"
      "Exit codes: 0 good, 99 a threshold or every request or iteration failed, 1 could not run, 2 bad input, 130 "
      "interrupted.");
  const auto flags = std::make_shared<RunFlags>();
  add_source_flags(command, flags->job);
  add_load_flags(command, flags->job);
  add_request_flags(command, flags->job);
  const std::string group = "How to run and what to tell";
  command.add_option("--cores,-t,--threads", flags->cores, "Cores that generate load [the machine's physical cores]")
      ->type_name("N")
      ->check(whole_number(1, kMostCores))
      ->group(group);
  command.add_flag("--latency")->description("As wrk has it; percentiles are shown without it too")->group(group);
  command
      .add_option("--ui", flags->ui,
                  "Progress: full (a live screen), ci (a line every two seconds) or none [auto: full on a terminal]")
      ->check(CLI::IsMember({"auto", "full", "ci", "none"}))
      ->group(group);
  command.add_option("--out", flags->outputs, outputs_help(context.outputs))
      ->type_name("NAME=ARGUMENT")
      ->allow_extra_args(false)
      ->group(group);
  command.add_flag("--strict", flags->strict, "Exit 1 when the run was good but its result is marked as doubtful")
      ->group(group);
  command.add_flag("--json", flags->json, "Print the summary as JSON")->group(group);
  add_history_flags(command, flags->history, "Other runs");
  context.suggestions["NAME=ARGUMENT"] = [&outputs = context.outputs] {
    std::vector<Suggestion> names;
    for (const report::OutputKind& kind : outputs.all()) names.push_back({.value = kind.name + "=", .doc = kind.doc});
    return names;
  };
  command.callback([flags, &context] {
    flags->color = context.color;
    context.code = run(*flags, context.registry, context.outputs);
  });
}

}  // namespace muster::console
