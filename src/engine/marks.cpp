#include "engine/marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "model/test_outcomes.h"
#include "model/window_words.h"

namespace muster::engine {
namespace {

using model::Mark;
using model::WorkflowResult;
using model::WorkflowState;

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

// Never "100%" for nearly all and never "0%" for nearly none.
std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "0%";
  const double share = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  for (int places = 0; places <= 3; ++places) {
    const std::string text = fmt::format("{:.{}f}", share, places);
    const double shown = std::stod(text);
    const bool hides = (part > 0 && shown <= 0) || (part < whole && shown >= 100);
    if (!hides && (places > 0 || share >= 10 || part == 0)) return text + "%";
  }
  return part == 0 ? "0%" : (share < 50 ? "<0.001%" : ">99.999%");
}

std::string milliseconds(base::Duration duration) {
  const double value = base::seconds(duration) * 1e3;
  return value >= 1000 ? fmt::format("{:.2f} s", value / 1000) : fmt::format("{:.{}f} ms", value, value >= 100 ? 0 : 2);
}

bool ended(WorkflowState state) {
  return state != WorkflowState::kPending && state != WorkflowState::kRunning;
}

class Finder {
 public:
  Finder(const WorkflowResult& workflow, bool alone, const MarkLimits& limits, std::vector<Mark>& marks)
      : workflow_(workflow),
        prefix_(alone ? std::string() : fmt::format("'{}': ", workflow.name)),
        limits_(limits),
        marks_(marks) {}

  void find() {
    lost();
    script();
    start();
    undone();
    cut();
    saturated();
    exhausted();
    unsent();
    dropped();
    max_vus();
    late();
    data();
  }

 private:
  void mark(std::string_view id, const std::string& text) { marks_.push_back({std::string(id), prefix_ + text}); }

  void lost() {
    const bool killed =
        std::ranges::any_of(workflow_.notes, [](const auto& each) { return each.first == kKilledAtTheEnd; });
    if (workflow_.state != WorkflowState::kLost && !killed) return;
    std::string why = killed ? std::string(kKilledAtTheEnd) : workflow_.reason;
    if (!why.empty()) why.insert(0, ": ");
    mark("lost", fmt::format("the process that made the load was lost{}; what came after {:.1f} s is missing", why,
                             base::seconds(workflow_.elapsed)));
  }

  void script() {
    std::uint64_t times = 0;
    std::string_view first;
    for (const auto& [text, count] : workflow_.notes) {
      if (!std::string_view(text).starts_with(kScriptError)) continue;
      if (first.empty()) first = std::string_view(text).substr(kScriptError.size());
      times += count;
    }
    if (times == 0) return;
    mark("script", fmt::format("the script failed {} ({}), and what it had still to do was not done: mend it, or use "
                               "pcall where an error is meant",
                               times == 1 ? "once" : grouped(times) + " times", first));
  }

  void start() {
    const std::uint64_t failed = failed_starts(workflow_);
    if (failed == 0) return;
    mark("start", fmt::format("{} ended because {} `start` steps failed, and did none of the work: the load was less "
                              "than asked for; see the errors above, or try one with 'muster try'",
                              failed == 1 ? "a VU" : grouped(failed) + " VUs", failed == 1 ? "its" : "their"));
  }

  void undone() {
    if (never_got_past_start(workflow_)) return;  // which says it all
    for (const auto& [text, times] : workflow_.notes) {
      if (!std::string_view(text).starts_with(kEndedWith)) continue;
      mark("undone",
           fmt::format("the load {}; VUs ended early (by `stop: vu`, a `start` that failed, or the load scaled down): "
                       "let them go on{}",
                       text,
                       workflow_.cores.size() > 1
                           ? ", or use --cores 1, since the VUs of one core do not run the iterations of another"
                           : ", or ask for fewer iterations"));
    }
  }

  void cut() {
    if (workflow_.state != WorkflowState::kCompleted) return;
    if (workflow_.iterations > 0 || workflow_.interrupted == 0) return;
    mark("cut", fmt::format("no iteration was completed: {} cut short at the end; give them a longer 'for' or 'grace', "
                            "or find the step that takes so long with 'muster try'",
                            workflow_.interrupted == 1 ? "the only one was"
                                                       : fmt::format("all {} were", grouped(workflow_.interrupted))));
  }

  void saturated() {
    std::size_t busy = 0;
    double most = 0;
    for (const model::CoreUse& core : workflow_.cores) {
      if (core.elapsed < limits_.least_measured) continue;
      const double use = base::seconds(core.busy) / base::seconds(core.elapsed);
      most = std::max(most, use);
      if (use > limits_.busy) ++busy;
    }
    if (busy == 0) return;
    const std::size_t cores = workflow_.cores.size();
    const std::string which = cores == 1 ? "its core was" : fmt::format("{} of its {} cores were", busy, cores);
    mark("saturated",
         fmt::format("the generator was saturated: {} busy more than {:.0f}% of the time (most: {:.0f}%), so muster "
                     "rather than the server may have set the rate and lengthened the latency; give it more cores "
                     "(--cores), another machine, or less load",
                     which, limits_.busy * 100, std::min(most, 1.0) * 100));
  }

  // Requests that failed so, and all.
  std::pair<std::uint64_t, std::uint64_t> failed_as(model::ErrorClass error) const {
    model::TestOutcomes outcomes;
    outcomes.add(workflow_);
    return {outcomes.errors[static_cast<std::size_t>(error)], outcomes.ok + outcomes.failed};
  }

  void unsent() {
    const auto [lacking, all] = failed_as(model::ErrorClass::kValue);
    if (lacking == 0) return;
    mark("unsent",
         fmt::format("{} of {} requests ({}) were never sent, since a value that they need was missing or did "
                     "not fit: they count as failed, and their latency says nothing about the server; see "
                     "their errors, and `muster try`",
                     grouped(lacking), grouped(all), percent(lacking, all)));
  }

  void exhausted() {
    const auto [lacking, all] = failed_as(model::ErrorClass::kResource);
    if (lacking == 0) return;
    mark("exhausted",
         fmt::format("{} of {} requests ({}) never left this machine, which ran out of file descriptors, "
                     "ports or memory: their failure and their latency say nothing about the server; raise "
                     "`ulimit -n`, give more `source` addresses, or use fewer connections",
                     grouped(lacking), grouped(all), percent(lacking, all)));
  }

  bool out_of_data() const {
    return std::ranges::any_of(
        workflow_.notes, [](const auto& note) { return std::string_view(note.first).starts_with(kUniqueDataEnded); });
  }

  void dropped() {
    if (workflow_.dropped == 0) return;
    const std::string share = fmt::format("{} of {} arrivals ({}) were dropped", grouped(workflow_.dropped),
                                          grouped(workflow_.arrivals), percent(workflow_.dropped, workflow_.arrivals));
    if (out_of_data()) {
      mark("dropped", share +
                          ", and the load ended early, because the unique data had no row left for them; see the "
                          "mark 'data'");
    } else if (never_got_past_start(workflow_)) {
      mark("dropped", share + ", since every VU's `start` steps failed; see the mark 'start'");
    } else {
      mark("dropped", share +
                          ": the server saw less than the load asked for, and the latency of what was dropped is "
                          "not in the figures; raise max_vus; those that still waited at the end need a longer "
                          "'grace', those of 'late: drop' the policy 'queue'");
    }
  }

  void max_vus() {
    if (!workflow_.open || workflow_.queued == 0) return;
    if (never_got_past_start(workflow_)) return;  // more VUs would fail as these did
    mark("max-vus", fmt::format("{} of {} arrivals ({}) had to wait for a free VU, since all {} (max_vus) were in use: "
                                "latency includes that wait; raise max_vus, or look for what made the server slow",
                                grouped(workflow_.queued), grouped(workflow_.arrivals),
                                percent(workflow_.queued, workflow_.arrivals), grouped(workflow_.max_vus)));
  }

  // Of arrivals, or of thinks and pauses; empty if few were late, or there were too few to tell.
  std::string late_share(std::string_view did, base::Duration sound) const {
    const base::Duration p99 = workflow_.lateness.quantile(0.99);
    if (workflow_.lateness.count() < limits_.least_arrivals || p99 <= sound) return {};
    return fmt::format("1% of the {} {} or more after they were due (worst: {}; sound: {} at most)", did,
                       milliseconds(p99), milliseconds(workflow_.lateness.max()), milliseconds(sound));
  }

  // A closed load has no arrivals: what muster itself owes it are the ends of its thinks and pauses.
  void late_pauses() {
    std::string what = late_share("thinks and pauses ended", limits_.pause_lateness);
    const base::Duration worst = workflow_.lateness.max();
    const double elapsed = base::seconds(workflow_.elapsed);
    if (what.empty() && worst >= limits_.standstill && base::seconds(worst) >= limits_.standstill_share * elapsed) {
      what = fmt::format("a think or pause ended {} after it was due, in a load of {:.1f} s", milliseconds(worst),
                         elapsed);
    }
    if (what.empty()) return;
    mark("late", fmt::format("the generator was late: {}; its VUs asked less often than the load says, and the latency "
                             "of what was under way may be muster's own; give the generator more cores (--cores), a "
                             "quieter machine, or less load",
                             what));
  }

  // Of an open load with so few arrivals that its percentiles are single ones.
  std::string few_late() const {
    const metrics::Histogram& lateness = workflow_.lateness;
    if (lateness.count() == 0 || lateness.count() >= limits_.least_arrivals) return {};
    const base::Duration half = lateness.quantile(0.5);
    if (half <= limits_.lateness && lateness.max() < limits_.standstill) return {};
    return fmt::format(
        "of {} arrivals half started {} or more, and the worst {}, after they were due (sound: {} at most)",
        grouped(lateness.count()), milliseconds(half), milliseconds(lateness.max()), milliseconds(limits_.lateness));
  }

  void late() {
    if (!workflow_.open) {
      late_pauses();
      return;
    }
    std::string what = late_share("arrivals started", limits_.lateness);
    if (what.empty()) what = few_late();
    // Drops have a mark of their own; here counts what was due, not dropped, and still never issued.
    const std::uint64_t issued = workflow_.iterations + workflow_.interrupted + workflow_.dropped;
    const bool complete = ended(workflow_.state) && workflow_.state != WorkflowState::kLost;
    if (complete && static_cast<double>(issued) < limits_.issued * static_cast<double>(workflow_.arrivals)) {
      if (!what.empty()) what += ", and ";
      what += fmt::format("only {} of {} due arrivals ({}) were issued by the end", grouped(issued),
                          grouped(workflow_.arrivals), percent(issued, workflow_.arrivals));
    }
    if (what.empty()) return;
    mark("late",
         fmt::format("the schedule was missed: {}; {}", what,
                     workflow_.queued > 0 ? "raise max_vus first, then give the generator more cores or less load"
                                          : "give the generator more cores (--cores), a quieter machine, or less "
                                            "load"));
  }

  void data() {
    for (const auto& [text, times] : workflow_.notes) {
      if (!std::string_view(text).starts_with(kUniqueDataEnded)) continue;
      mark("data",
           fmt::format("{} ({} times): VUs without a row of their own did no more work; add rows, ask for fewer "
                       "iterations, or use another 'pick'",
                       text, grouped(times)));
    }
  }

  const WorkflowResult& workflow_;
  std::string prefix_;
  const MarkLimits& limits_;
  std::vector<Mark>& marks_;
};

void every_request_failed(const std::vector<WorkflowResult>& workflows, std::vector<Mark>& marks) {
  model::TestOutcomes outcomes;
  for (const WorkflowResult& workflow : workflows) outcomes.add(workflow);
  if (!outcomes.all_failed()) return;
  const auto most = std::ranges::max_element(outcomes.errors);
  const auto error = static_cast<model::ErrorClass>(most - outcomes.errors.begin());
  const bool single = outcomes.failed == 1;
  const std::string which =
      single ? "the only request" : fmt::format("every one of the {} requests", grouped(outcomes.failed));
  const std::string by = *most > 0 ? fmt::format(", {}by {}", single ? "" : "most ", model::to_text(error)) : "";
  marks.push_back({"all-failed", fmt::format("{} failed{}: the latency is that of failing; try one with 'muster try' "
                                             "and see the errors above",
                                             which, by)});
}

// The figures are right, but they are not those of the load that the file asks for.
void changed_by_hand(const ByHand& by_hand, const MarkLimits& limits, std::vector<Mark>& marks) {
  if (by_hand.paused >= limits.least_pause) {
    marks.push_back(
        {"paused", fmt::format("the load was paused by hand for {:.1f} s: that time counts in the duration, "
                               "so rates are lower than while the load ran; run it again without a pause "
                               "to compare it with others",
                               base::seconds(by_hand.paused))});
  }
  if (by_hand.least == 1 && by_hand.most == 1) return;
  std::string how = fmt::format("up to ×{:.2f}", by_hand.most);
  if (by_hand.most == 1) how = fmt::format("down to ×{:.2f}", by_hand.least);
  if (by_hand.least < 1 && by_hand.most > 1)
    how = fmt::format("between ×{:.2f} and ×{:.2f}", by_hand.least, by_hand.most);
  marks.push_back({"scaled", fmt::format("the load was changed by hand, {} of what the file asks for: write the load "
                                         "that is meant into the file to have it again",
                                         how)});
}

}  // namespace

std::vector<Mark> find_marks(const std::vector<WorkflowResult>& workflows,
                             const std::vector<model::ThresholdVerdict>& thresholds, const ByHand& by_hand,
                             const MarkLimits& limits, const std::vector<std::string>& problems) {
  std::vector<Mark> marks;
  every_request_failed(workflows, marks);
  for (const WorkflowResult& workflow : workflows) Finder(workflow, workflows.size() == 1, limits, marks).find();
  changed_by_hand(by_hand, limits, marks);
  for (const model::ThresholdVerdict& verdict : thresholds) {
    if (verdict.judged) continue;
    marks.push_back(
        {"unjudged", fmt::format("the threshold '{}'{}{} was not judged; {} samples were seen", verdict.text,
                                 model::window_words(verdict.window),
                                 verdict.where.empty() ? "" : " where " + verdict.where, grouped(verdict.samples))});
    const auto at = static_cast<std::size_t>(&verdict - thresholds.data());
    if (at < problems.size() && !problems[at].empty()) marks.back().text += ": " + problems[at];
  }
  return marks;
}

std::uint64_t failed_starts(const WorkflowResult& workflow) {
  for (const auto& [text, times] : workflow.notes) {
    if (text == kStartFailed) return times;
  }
  return 0;
}

bool never_got_past_start(const WorkflowResult& workflow) {
  return workflow.iterations + workflow.interrupted == 0 && failed_starts(workflow) > 0;
}

void tell_undone(model::Notes& notes, const LoadShape& shape) {
  const auto find = [&](std::string_view text) {
    return std::ranges::find(notes, text, [](const auto& each) { return std::string_view(each.first); });
  };
  const auto by_for = find(kIterationsUndone);
  const auto without_vu = find(kIterationsWithoutVu);
  const std::uint64_t left = without_vu != notes.end() ? without_vu->second : 0;
  const std::uint64_t undone = left + (by_for != notes.end() ? by_for->second : 0);
  const IterationBound bound = shape.iterations();
  const std::uint64_t asked = bound.of == IterationBound::Of::kEachVu ? bound.count * shape.peak_vus() : bound.count;
  const std::uint64_t all = std::max(asked, undone);  // scaling adds VUs that have iterations of their own
  if (by_for != notes.end()) {
    *by_for = {fmt::format("{}{} of {} iterations", kEndedByFor, grouped(all - undone), grouped(all)), 1};
  }
  if (without_vu != notes.end()) {
    *without_vu = {fmt::format("{}{} of {} iterations undone: no VU was left to run {}", kEndedWith, grouped(left),
                               grouped(all), left == 1 ? "it" : "them"),
                   1};
  }
}

}  // namespace muster::engine
