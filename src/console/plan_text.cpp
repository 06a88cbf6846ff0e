// The plan as a page of text. Names, addresses and texts of the user's go through Page::safe.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "console/plan.h"
#include "console/plan_words.h"
#include "engine/redaction.h"
#include "engine/selection.h"
#include "report/figures.h"
#include "report/page.h"
#include "report/text_layout.h"

namespace muster::console {
namespace {

using report::Ink;

constexpr std::size_t kIndent = 4;
constexpr std::size_t kDeepest = 40;  // columns from which on a tree is not indented further

// "1 request", "3 to 8 requests", "2 or more requests".
std::string bounds_in_words(const Bounds& bounds, double factor) {
  const double least = std::round(bounds.least * factor);
  const double most = std::round(bounds.most * factor);
  if (std::isinf(most)) return fmt::format("{} or more requests", report::plain_number(least));
  if (least < most) return fmt::format("{} to {} requests", report::plain_number(least), report::plain_number(most));
  return counted(static_cast<std::uint64_t>(least), "request", "requests");
}

class PlanPage {
 public:
  PlanPage(const JobPlan& plan, const model::StepKinds& kinds, const PlanText& options)
      : plan_(plan), kinds_(kinds), options_(options), page_(options.colour, true, options.columns) {}

  std::string make() {
    head();
    for (std::size_t layer = 0; layer < plan_.layers.size(); ++layer) {
      for (std::size_t batch = 0; batch < plan_.layers[layer].size(); ++batch) {
        if (plan_.workflows.size() > 1) turn(layer, batch);
        for (const std::size_t index : plan_.layers[layer][batch]) workflow(plan_.workflows[index]);
      }
    }
    thresholds();
    if (!plan_.warnings.empty()) page_.heading("worth a look");
    for (const std::string& each : plan_.warnings) page_.item(page_.signs().warn, Ink::kWarn, page_.safe(each));
    return page_.take();
  }

 private:
  void head() {
    const model::Job& job = *plan_.job;
    page_.line(page_.ink(page_.cut(job.name, options_.columns), Ink::kBold));
    const std::string time = plan_.length == base::Duration::max()
                                 ? "until its iterations are done"
                                 : fmt::format("{} at most, then the grace", spelled(plan_.length));
    page_.fact("run", fmt::format("{}{}{}{}{}", counted(plan_.workflows.size(), "workflow", "workflows"),
                                  page_.separator(), counted(plan_.pool, "core", "cores"), page_.separator(), time));
    page_.fact("memory", fmt::format("about {} at the peak", base::format_size(plan_.memory)));
    const std::string secrets = fmt::format("{}", fmt::join(secret_names(job), ", "));
    if (!secrets.empty()) page_.fact("secrets", page_.safe(secrets) + " (never shown)");
    page_.fact("seed", job.seed != 0 ? fmt::to_string(job.seed) : "a fresh one");
  }

  void turn(std::size_t layer, std::size_t batch) {
    std::string title = fmt::format("layer {} of {}", layer + 1, plan_.layers.size());
    const std::size_t batches = plan_.layers[layer].size();
    if (batches > 1) title += fmt::format(", batch {} of {}", batch + 1, batches);
    if (plan_.layers[layer][batch].size() > 1) title += ": together";
    page_.heading(title);
  }

  void workflow(const PlannedWorkflow& each) {
    const model::Workflow& flow = *each.workflow;
    page_.heading("workflow " + page_.cut(flow.name, options_.columns - 12));
    if (!flow.depends.empty()) page_.fact("after", page_.safe(fmt::format("{}", fmt::join(flow.depends, ", "))));
    page_.fact("load", page_.safe(fmt::format("{}", fmt::join(load_words(flow.load, *each.shape), "; "))));
    page_.fact("expect", expectation(each));
    page_.fact("cores", cores(each));
    for (const engine::FeederUse& use : each.program->feeders) page_.fact("data", data(use));
    for (const std::string& text : connections(each)) page_.fact("connect", page_.safe(text));
    context(flow);
    page_.fact("memory", fmt::format("about {}", base::format_size(each.memory)));
    if (flow.scripted && plan_.job->script->profile == "wrk") {
      page_.line("  " + page_.ink(page_.safe("requests: made by the script " + plan_.job->script->file), Ink::kDim));
      return;
    }
    list("start, once for each VU", flow.start);
    list(flow.scripted ? "steps, which the script calls as it decides"
         : flow.graph  ? "steps, ordered by `after`, over and over"
                       : "steps, over and over",
         flow.steps);
    list("stop, once for each VU", flow.stop);
    requests(each);
  }

  std::string expectation(const PlannedWorkflow& each) const {
    std::string text;
    const bool open = each.shape->open();
    const bool scripted = each.workflow->scripted.has_value();
    if (each.iterations) {
      const auto number = static_cast<std::uint64_t>(*each.iterations);
      // `for` may be over first.
      const std::string_view most = !open && each.shape->length() != base::Duration::max() ? "at most " : "";
      text = open ? counted(number, "arrival", "arrivals")
                  : fmt::format("{}{}", most, counted(number, "iteration", "iterations"));
      if (!scripted) {
        text += fmt::format("{}{}{}", page_.separator(), most, bounds_in_words(each.requests, *each.iterations));
      }
    } else {
      text = "as many iterations as the server allows";
    }
    if (scripted) return fmt::format("{}{}the script decides what each one sends", text, page_.separator());
    text += fmt::format("{}{} in each", page_.separator(), bounds_in_words(each.requests, 1));
    if (each.thinking.most > 0) {
      const auto time = [](double seconds) { return spelled(base::from_seconds(seconds)); };
      const bool same = each.thinking.most - each.thinking.least < 1e-9;
      text += std::isinf(each.thinking.most)
                  ? fmt::format("{}{} or more of thinking", page_.separator(), time(each.thinking.least))
              : same ? fmt::format("{}{} of thinking", page_.separator(), time(each.thinking.most))
                     : fmt::format("{}{} to {} of thinking", page_.separator(), time(each.thinking.least),
                                   time(each.thinking.most));
    }
    return text;
  }

  std::string cores(const PlannedWorkflow& each) const {
    const std::uint64_t first = each.cores.front().vus;
    const std::uint64_t last = each.cores.back().vus;
    const std::string_view most = each.shape->open() ? "up to " : "";
    const std::string number = counted(each.cores.size(), "core", "cores");
    if (each.cores.size() == 1) return fmt::format("{}: {}{}", number, most, counted(first, "VU", "VUs"));
    if (first == last) return fmt::format("{}: {}{} on each", number, most, counted(first, "VU", "VUs"));
    return fmt::format("{}: {}{} on each, {} on the last", number, most, counted(first, "VU", "VUs"),
                       report::grouped(last));
  }

  std::string data(const engine::FeederUse& use) const {
    constexpr std::string_view kPicks[] = {"row after row, again from the top at the end", "a random row each time",
                                           "each row once in the whole run", "each VU keeps its row"};
    std::string columns;
    for (const std::string& name : use.feeder->columns()) columns += (columns.empty() ? "" : ", ") + name;
    return page_.safe(fmt::format("{}: {} of {}; {}", use.name, counted(use.feeder->rows(), "row", "rows"), columns,
                                  kPicks[static_cast<std::size_t>(use.pick)]));
  }

  static std::vector<std::string> connections(const PlannedWorkflow& each) {
    std::vector<std::string> told;
    for (const PlannedCall& call : each.calls) {
      const std::string& text = call.outline.connections;
      if (!text.empty() && std::ranges::find(told, text) == told.end()) told.push_back(text);
    }
    return told;
  }

  void context(const model::Workflow& flow) {
    for (const model::Use& use : flow.uses) {
      page_.fact("uses",
                 page_.safe(fmt::format("{} from {}{}", use.key, use.source, use.fallback ? ", or its default" : "")));
    }
    for (const model::Provide& provide : flow.provides) {
      constexpr std::string_view kKeeps[] = {"the last value", "the first value", "all values"};
      const std::string to =
          provide.to.empty() ? "those that depend on it" : fmt::format("{}", fmt::join(provide.to, ", "));
      page_.fact("provides", page_.safe(fmt::format("{} ({}) to {}", provide.key,
                                                    kKeeps[static_cast<std::size_t>(provide.keep)], to)));
    }
  }

  void list(std::string_view title, const std::vector<model::Step>& steps) {
    if (steps.empty()) return;
    page_.line("  " + page_.ink(title, Ink::kDim));
    tree(steps, std::string(kIndent, ' '));
  }

  void tree(const std::vector<model::Step>& steps, const std::string& before) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const bool last = i + 1 == steps.size();
      step(steps[i], before + (last ? "└ " : "├ "), below(before, last));
    }
  }

  // What stands before the lines below a step.
  static std::string below(const std::string& before, bool last) {
    return report::width(before) >= kDeepest ? before : before + (last ? "  " : "│ ");
  }

  // Its line, wrapped under itself, then what is in it.
  void step(const model::Step& each, const std::string& first, const std::string& rest) {
    const std::string action = step_action(each, kinds_);
    std::string text = each.named && each.name != action ? fmt::format("{}: {}", each.name, action) : action;
    for (const std::string& detail : step_details(each, kinds_)) text += fmt::format("{}{}", page_.separator(), detail);
    wrap(first, rest + (each.branches.empty() ? "  " : "│ "), text);
    // Branches that run one after the other, or are the only one, need no line of their own.
    const bool labelled = each.branches.size() > 1 || each.kind == "if" || each.kind == "choose";
    for (std::size_t i = 0; i < each.branches.size(); ++i) {
      const model::Branch& branch = each.branches[i];
      if (!labelled) {
        tree(branch.steps, rest);
        continue;
      }
      const bool last = i + 1 == each.branches.size();
      const std::string label = branch_label(each, branch);
      if (label.empty() && branch.steps.size() == 1) {
        step(branch.steps.front(), rest + (last ? "└ " : "├ "), below(rest, last));
        continue;
      }
      page_.line(rest + (last ? "└ " : "├ ") + (label.empty() ? fmt::format("branch {}", i + 1) : label));
      tree(branch.steps, below(rest, last));
    }
  }

  void wrap(const std::string& first, const std::string& rest, std::string_view text) {
    const std::size_t used = std::max(report::width(first), report::width(rest));
    const std::size_t room = std::max<std::size_t>(options_.columns - std::min(options_.columns, used), 20);
    std::string before = first;
    for (const std::string& line : report::wrapped(page_.safe(text), room)) {
      page_.line(before + line);
      before = rest;
    }
  }

  void requests(const PlannedWorkflow& each) {
    if (each.calls.empty()) return;
    page_.line("  " + page_.ink("requests, made before the clock starts", Ink::kDim));
    for (const PlannedCall& call : each.calls) request(call);
  }

  void request(const PlannedCall& call) {
    std::size_t literal = 0;
    std::vector<std::string> holes;
    std::string wire;
    for (const authoring::TextPiece& piece : call.outline.wire) {
      wire += piece.hole ? "${" + piece.text + "}" : piece.text;
      if (piece.hole) {
        holes.push_back("${" + piece.text + "}");
      } else {
        literal += piece.text.size();
      }
    }
    if (call.outline.wire.empty()) return;
    const std::string bytes = counted(literal, "byte", "bytes");
    const std::string told = holes.empty()
                                 ? fmt::format("{}: constant, {}, the same for all", call.step, bytes)
                                 : fmt::format("{}: {} constant, and {} filled each time: {}", call.step, bytes,
                                               counted(holes.size(), "hole", "holes"), fmt::join(holes, ", "));
    page_.item(page_.signs().dot, Ink::kDim, page_.safe(told));
    show(wire);
  }

  // Line by line; what is beyond the limit is counted.
  void show(std::string_view wire) {
    const std::size_t left_out = wire.size() - std::min(wire.size(), options_.bytes);
    if (options_.bytes == 0) return;
    std::string_view rest = wire.substr(0, options_.bytes);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      const std::string text = report::truncated(page_.safe(line), options_.columns - kIndent - 4, true);
      page_.line(std::string(kIndent, ' ') + page_.ink("  >", Ink::kDim) + (text.empty() ? "" : " ") + text);
    }
    if (left_out > 0) page_.line(fmt::format("      > … {} more bytes", left_out));
  }

  void thresholds() {
    if (plan_.thresholds.empty()) return;
    page_.heading("thresholds");
    for (const PlannedThreshold& each : plan_.thresholds) {
      const model::Threshold& threshold = *each.threshold;
      std::string text = threshold.text;
      if (!threshold.where.empty()) text += fmt::format(", where {}", engine::where_text(threshold));
      if (threshold.window) text += fmt::format(", in every {}", spelled(*threshold.window));
      if (threshold.min_samples > 1) text += fmt::format(", from {} samples on", threshold.min_samples);
      if (threshold.abort) text += "; ends the run when it fails";
      const bool good = each.problem.empty();
      page_.item(good ? page_.signs().dot : page_.signs().bad, good ? Ink::kDim : Ink::kBad, page_.safe(text));
    }
  }

  const JobPlan& plan_;
  const model::StepKinds& kinds_;
  const PlanText& options_;
  report::Page page_;
};

}  // namespace

std::string plan_text(const JobPlan& plan, const model::StepKinds& kinds, const PlanText& options) {
  std::string text = PlanPage(plan, kinds, options).make();
  // Also where the user wrote a secret's value into the file.
  engine::redact(text, engine::spellings(plan.job->secrets));
  return text;
}

}  // namespace muster::console
