#include "console/explain_command.h"

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "console/colour.h"
#include "console/job_flags.h"
#include "console/plan.h"
#include "console/run_command.h"
#include "console/say.h"

namespace muster::console {
namespace {

// A run raises its soft limit to the hard one.
std::uint64_t most_open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) return 0;
  return limit.rlim_max;
}

}  // namespace

int explain(const ExplainFlags& flags, const engine::Registry& registry, const std::string& color) {
  JobFlags job_flags = flags.job;
  // Nothing is sent, so any address will do; this one says what it stands for.
  if (job_flags.target == "embedded") job_flags.target = "http://embedded-target";
  const auto job = load(job_flags, registry);
  if (!job) {
    say(stderr, "{}\n", job.error().message);
    return kBadInput;
  }
  const auto plan = make_plan(
      *job, registry, {.cores = flags.cores != 0 ? flags.cores : physical_cores(), .open_files = most_open_files()});
  if (!plan) {
    say(stderr, "{}\n", plan.error().message);
    return kBadInput;
  }
  if (flags.json) {
    say("{}", plan_json(*plan, registry.kinds));
  } else {
    say("{}",
        plan_text(*plan, registry.kinds, {.colour = use_colour(color, stdout), .columns = 80, .bytes = flags.bytes}));
  }
  return kGood;
}

void add_explain(CLI::App& app, CommandContext& context) {
  CLI::App& command = *app.add_subcommand("explain", "Say what a run would do, without doing it");
  command.footer(
      "Examples:\n"
      "  muster explain test.yaml\n"
      "  muster explain test.yaml --cores 8 --bytes 0\n"
      "  muster explain --url http://127.0.0.1:8080/ -R 200 -d 1m --json\n"
      "Sends nothing. What is likely not meant stands at the end.");
  const auto flags = std::make_shared<ExplainFlags>();
  add_source_flags(command, flags->job);
  add_load_flags(command, flags->job);
  add_request_flags(command, flags->job);
  command.add_option("--cores", flags->cores, "As if there were so many cores [the machine's physical cores]")
      ->type_name("N")
      ->check(whole_number(1, kMostCores))
      ->group("What to show");
  command.add_option("--bytes", flags->bytes, "Bytes of each request to show [400]")
      ->type_name("N")
      ->check(whole_number(0, kMostShownBytes))
      ->group("What to show");
  command.add_flag("--json", flags->json, "Print it as JSON")->group("What to show");
  command.callback([flags, &context] { context.code = explain(*flags, context.registry, context.color); });
}

}  // namespace muster::console
