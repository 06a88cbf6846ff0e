#include "console/check_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/escapes.h"
#include "console/job_flags.h"
#include "console/job_warnings.h"
#include "console/plan.h"
#include "console/run_command.h"
#include "console/say.h"
#include "engine/redaction.h"

namespace muster::console {
namespace {

std::size_t count_steps(const std::vector<model::Step>& steps) {
  std::size_t count = 0;
  for (const model::Step& step : steps) {
    ++count;
    for (const model::Branch& branch : step.branches) count += count_steps(branch.steps);
  }
  return count;
}

std::expected<model::Job, authoring::Problems> load_and_compile(JobFlags flags, const engine::Registry& registry) {
  if (flags.target == "embedded") flags.target = "http://127.0.0.1";  // nothing is sent, so any address will do
  auto job = load_or_explain(flags, registry);
  if (!job) return job;
  for (const model::Workflow& workflow : job->workflows) {
    auto engine = engine::Engine::make(
        {.job = &*job, .workflow = &workflow, .cores = 1, .seed = 1, .received = {}, .trace = {}}, registry);
    if (!engine) {
      return std::unexpected(authoring::Problems{{{.where = {}, .message = engine.error().message, .excerpt = {}}}});
    }
  }
  return job;
}

// Likely slips, and what makes the file run other than it reads on the cores of this machine.
std::vector<std::string> warnings_of(const model::Job& job, const engine::Registry& registry) {
  std::vector<std::string> warnings = job_warnings(job);
  if (job.workflows.size() < 2) return warnings;
  if (const auto plan = make_plan(job, registry, {.cores = physical_cores(), .open_files = 0})) {
    warnings.insert(warnings.end(), plan->shortages.begin(), plan->shortages.end());
  }
  return warnings;
}

nlohmann::ordered_json to_json(const authoring::Problem& problem) {
  nlohmann::ordered_json out;
  if (problem.where.file != nullptr) out["file"] = *problem.where.file;
  if (problem.where.line > 0) out["line"] = problem.where.line;
  if (problem.where.line > 0) out["column"] = problem.where.column;
  out["message"] = problem.message;
  return out;
}

std::string dump(const nlohmann::ordered_json& out) {
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string job_json(const model::Job& job, const engine::Registry& registry) {
  nlohmann::ordered_json out;
  out["ok"] = true;
  out["job"] = job.name;
  for (const model::Workflow& workflow : job.workflows) {
    out["workflows"].push_back(
        {{"name", workflow.name}, {"load", workflow.load.shape}, {"steps", count_steps(workflow.steps)}});
  }
  for (const std::string& each : warnings_of(job, registry)) out["warnings"].push_back(each);
  return dump(out);
}

}  // namespace

std::string problems_json(const authoring::Problems& problems) {
  nlohmann::ordered_json out;
  out["ok"] = false;
  for (const authoring::Problem& problem : problems.list) out["problems"].push_back(to_json(problem));
  return dump(out);
}

int check(const CheckFlags& flags, const engine::Registry& registry) {
  const auto job = load_and_compile(flags.job, registry);
  if (flags.json) {
    say("{}", job ? job_json(*job, registry) : problems_json(job.error()));
    return job ? kGood : kBadInput;
  }
  if (!job) {
    for (const authoring::Problem& problem : job.error().list) say(stderr, "{}\n", to_text(problem));
    return kBadInput;
  }
  std::string what = flags.job.file.empty() ? flags.job.url : flags.job.file;
  engine::redact(what, engine::spellings(job->secrets));
  say("{}: ok\n", base::one_line(what));
  for (const model::Workflow& workflow : job->workflows) {
    const std::size_t steps = count_steps(workflow.start) + count_steps(workflow.steps) + count_steps(workflow.stop);
    // A script's steps are all of its workflows'; which of them one calls is known when it runs.
    say("  workflow {}: {}{} step{}, load {}\n", base::one_line(workflow.name), workflow.scripted ? "may call " : "",
        steps, steps == 1 ? "" : "s", workflow.load.shape);
  }
  for (const std::string& each : warnings_of(*job, registry)) say(stderr, "worth a look: {}\n", each);
  return kGood;
}

void add_check(CLI::App& app, CommandContext& context) {
  CLI::App& command = *app.add_subcommand("check", "Say whether a file would run, without running it");
  command.footer(
      "Examples:\n"
      "  muster check test.yaml\n"
      "  muster check test.yaml --json | jq -r '.problems[].message'\n"
      "Sends nothing. Exit code 0, or 2 with every mistake, its line and a caret.");
  const auto flags = std::make_shared<CheckFlags>();
  add_source_flags(command, flags->job);
  command.add_flag("--json", flags->json, "Print the answer as JSON");
  command.callback([flags, &context] { context.code = check(*flags, context.registry); });
}

}  // namespace muster::console
