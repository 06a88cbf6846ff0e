#include "console/try_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/escapes.h"
#include "base/utf8.h"
#include "console/embedded_target.h"
#include "console/job_flags.h"
#include "console/say.h"
#include "console/signals.h"
#include "engine/job_run.h"
#include "engine/redaction.h"
#include "engine/verdict.h"
#include "model/test_outcomes.h"
#include "report/text_layout.h"

namespace muster::console {
namespace {

// Of each value that is shown.
constexpr std::size_t kMostValueBytes = 4096;

std::string redacted(std::string_view bytes, const model::Job& job) {
  std::string text(bytes);
  engine::mask_basic_credentials(text);
  engine::redact(text, engine::spellings(job.secrets));
  return text;
}

// A text on one line in which no control character reaches the terminal.
std::string safe(std::string_view text) {
  return report::printable(text, true);
}

// Bytes as a person can read them: line by line behind a mark.
void print_bytes(char mark, std::string_view bytes, std::size_t most, const model::Job& job) {
  // Redacted before it is cut, so that no half of a secret is left at the edge.
  const std::string text = redacted(bytes, job);
  const std::string_view kept = base::utf8_beginning(text, most);
  const std::size_t left_out = text.size() - kept.size();
  for (std::string_view rest = kept; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    std::string line(rest.substr(0, end));
    std::erase(line, '\r');
    if (!line.empty() || end != std::string_view::npos) say("  {} {}\n", mark, base::one_line(line));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  if (left_out > 0) say("  {} … {} more bytes\n", mark, left_out);
}

// Why the response could not be read for the check or value of this name, to go behind it.
std::string why_unread(const engine::StepTrace& trace, std::string_view name) {
  for (const auto& [of, why] : trace.unread) {
    if (of == name) return " – " + safe(why);
  }
  return {};
}

void print_values(const engine::StepTrace& trace) {
  for (const auto& [label, holds] : trace.checks) {
    say("  {} check {}{}\n", holds ? "✓" : "✗", safe(label), holds ? "" : why_unread(trace, label));
  }
  for (const auto& [name, value] : trace.values) {
    const std::string_view shown = base::utf8_beginning(value, kMostValueBytes);
    say("  = {}: {}", safe(name), safe(shown));
    if (shown.size() < value.size()) say(" … {} more bytes", value.size() - shown.size());
    say("{}\n", why_unread(trace, name));
  }
  say("\n");
  std::fflush(stdout);
}

// Of a step that made a call.
void put_call(nlohmann::ordered_json& out, const engine::StepTrace& trace, std::size_t bytes, const model::Job& job) {
  const engine::Outcome& outcome = *trace.outcome;
  out["latency_ms"] = base::seconds(trace.latency) * 1e3;
  if (outcome.status != 0) out["status"] = outcome.status;
  if (!trace.ok) {
    out["error"] = to_text(outcome.error);
    out["detail"] = redacted(trace.detail, job);
  }
  if (outcome.earlier != nullptr && !outcome.earlier->empty()) {
    out["earlier"] = nlohmann::ordered_json::array();
    for (const engine::Exchange& each : *outcome.earlier) {
      out["earlier"].push_back({{"request", redacted(each.request, job).substr(0, bytes)},
                                {"response", redacted(each.reply, job).substr(0, bytes)}});
    }
  }
  if (outcome.unsent) out["sent"] = false;
  out["request"] = redacted(outcome.request, job).substr(0, bytes);
  out["response"] = redacted(outcome.reply, job).substr(0, bytes);
}

void print_step_json(const engine::StepTrace& trace, const TryFlags& flags, const model::Job& job) {
  nlohmann::ordered_json out;
  out["step"] = trace.name;
  out["ok"] = trace.ok;
  if (trace.outcome != nullptr) put_call(out, trace, flags.bytes, job);
  out["checks"] = nlohmann::ordered_json::object();
  for (const auto& [label, holds] : trace.checks) out["checks"][label] = holds;
  out["values"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : trace.values) out["values"][name] = value;
  for (const auto& [of, why] : trace.unread) out["unread"][of] = why;
  say("{}\n", out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  std::fflush(stdout);
}

void print_step(const engine::StepTrace& trace, const TryFlags& flags, const model::Job& job) {
  if (trace.outcome == nullptr) {
    say("{} {}\n", trace.ok ? "✓" : "✗", safe(trace.name));
    print_values(trace);
    return;
  }
  const engine::Outcome& outcome = *trace.outcome;
  say("{} {}  {:.2f} ms", trace.ok ? "✓" : "✗", safe(trace.name), base::seconds(trace.latency) * 1e3);
  if (outcome.status != 0) say("  status {}", outcome.status);
  if (!trace.ok) {
    say("  {}: {}", to_text(outcome.error), safe(redacted(trace.detail, job)));
  }
  say("\n");
  const auto print_exchange = [&](std::string_view request, std::string_view reply) {
    print_bytes('>', request, flags.bytes, job);
    say("\n");
    print_bytes('<', reply, flags.bytes, job);
  };
  for (const engine::Exchange& each : outcome.earlier != nullptr ? *outcome.earlier : std::vector<engine::Exchange>()) {
    print_exchange(each.request, each.reply);
    say("\n");
  }
  if (outcome.unsent) {
    say("  not sent:\n");
    print_bytes(' ', outcome.request, flags.bytes, job);
  } else {
    print_exchange(outcome.request, outcome.reply);
  }
  print_values(trace);
}

void shrink_to_one(model::Job& job, const std::string& only) {
  if (!only.empty()) {
    std::erase_if(job.workflows, [&](const model::Workflow& workflow) { return workflow.name != only; });
    for (model::Workflow& workflow : job.workflows) workflow.depends.clear();
  }
  for (model::Workflow& workflow : job.workflows) {
    const auto grace = workflow.load.grace;
    workflow.load = {};
    workflow.load.shape = "iterations-each";
    workflow.load.iterations = 1;
    workflow.load.grace = grace;
  }
  job.thresholds.clear();
}

// Of a workflow that came to its end and asked for nothing; else empty. `stops`: the first `stop` of each workflow.
std::string why_no_request(const model::WorkflowResult& workflow, const std::map<std::string, std::string>& stops) {
  model::TestOutcomes outcomes;
  outcomes.add(workflow);
  if (workflow.state != model::WorkflowState::kCompleted || outcomes.ok + outcomes.failed > 0) return {};
  if (!outcomes.any_step) return "no request was made: none of its steps makes one";
  const auto stop = stops.find(workflow.name);
  if (stop != stops.end()) return fmt::format("no request was made: `{}` came before any", stop->second);
  return "no request was made: no step that makes one was reached";
}

// What the steps that were shown do not tell.
void print_ending(const model::RunResult& result, const std::map<std::string, std::string>& stops, bool interrupted,
                  std::FILE* to) {
  for (const model::WorkflowResult& workflow : result.workflows) {
    const std::string name = safe(workflow.name);
    if (!workflow.reason.empty()) {
      say(to, "workflow {}: {}: {}\n", name, to_text(workflow.state), safe(workflow.reason));
    }
    for (const auto& [note, times] : workflow.notes) say(to, "workflow {}: {} ({} times)\n", name, safe(note), times);
    if (interrupted) continue;
    if (const std::string why = why_no_request(workflow, stops); !why.empty())
      say(to, "workflow {}: {}\n", name, safe(why));
  }
  if (interrupted) say(to, "interrupted: this is how far it came\n");
}

}  // namespace

int try_once(const TryFlags& flags, const engine::Registry& registry) {
  JobFlags job_flags = flags.job;
  EmbeddedTarget embedded;
  if (auto ready = embedded.serve_if_named(job_flags.target); !ready) {
    say(stderr, "{}\n", ready.error().message);
    return kCouldNotRun;
  }
  auto job = load(job_flags, registry);
  if (!job) {
    say(stderr, "{}\n", job.error().message);
    return kBadInput;
  }
  shrink_to_one(*job, flags.workflow);
  if (job->workflows.empty()) {
    say(stderr, "--workflow '{}': the file has no workflow of that name\n", flags.workflow);
    return kBadInput;
  }
  if (flags.json) keep_standard_output(*job);
  bool all_ok = true;
  std::map<std::string, std::string> stops;
  const engine::JobOptions options{
      .cores = 1, .in_process = true, .strict = false, .trace = [&](const engine::StepTrace& trace) {
        all_ok = all_ok && trace.ok;
        if (!trace.stopped.empty()) stops.try_emplace(std::string(trace.stopped), trace.name);
        (flags.json ? print_step_json : print_step)(trace, flags, *job);
      }};
  engine::JobRun run(*job, registry, options);
  if (auto started = run.start(); !started) {
    say(stderr, "{}\n", started.error().message);
    return kBadInput;
  }
  const Signals signals;
  while (run.advance()) {
    if (signals.count() > 0) {
      run.interrupted();
      run.abort();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const bool interrupted = signals.count() > 0;
  print_ending(run.result(), stops, interrupted, flags.json ? stderr : stdout);
  if (interrupted) return engine::kExitInterrupted;
  return all_ok ? run.result().exit_code : engine::kExitFailed;
}

void add_try(CLI::App& app, CommandContext& context) {
  CLI::App& command = *app.add_subcommand("try", "Run one iteration and show every value and the bytes on the wire");
  command.footer(
      "Examples:\n"
      "  muster try test.yaml --target embedded\n"
      "  muster try test.yaml --workflow login --bytes 200\n"
      "  muster try --url http://127.0.0.1:8080/json\n"
      "'>' is what was sent, '<' what came back, '=' what was saved. Exit code 99 if a step failed or no "
      "request was made.");
  const auto flags = std::make_shared<TryFlags>();
  add_source_flags(command, flags->job);
  add_request_flags(command, flags->job);
  const std::string group = "What to show";
  command.add_option("--workflow", flags->workflow, "Only this workflow [all]")
      ->type_name("NAME")
      ->group(group)
      ->configurable(false);
  command.add_option("--bytes", flags->bytes, "Bytes of each request and response to show [4096]")
      ->type_name("N")
      ->check(whole_number(0, kMostShownBytes))
      ->group(group);
  command.add_flag("--json", flags->json, "Print each step as one line of JSON")->group(group);
  command.callback([flags, &context] { context.code = try_once(*flags, context.registry); });
}

}  // namespace muster::console
