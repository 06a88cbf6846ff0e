#include "report/comparison_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "report/comparison_words.h"
#include "report/figures.h"
#include "report/page.h"
#include "report/text_layout.h"

namespace muster::report {
namespace {

constexpr std::size_t kMetric = 10;
constexpr std::size_t kValue = 10;
constexpr std::size_t kInterval = 22;

std::string when(base::Duration started) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(started).count();
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string about(const Page& page, const RunIdentity& run) {
  std::string text = fmt::format("{}{}{}{}{} requests in {}", run.job, page.separator(), when(run.started),
                                 page.separator(), grouped(run.requests), short_time(run.elapsed, page.unicode()));
  for (const auto& [name, value] : run.labels) text += fmt::format("{}{}={}", page.separator(), name, value);
  return page.safe(text);
}

void put_verdict(Page& page, const Comparison& comparison) {
  const Signs& signs = page.signs();
  switch (comparison.verdict) {
    case ComparisonVerdict::kSame:
      return page.item(signs.good, Ink::kGood, page.safe("same: " + comparison.sentence));
    case ComparisonVerdict::kBetter:
      return page.item(signs.good, Ink::kGood, page.safe("better: " + comparison.sentence));
    case ComparisonVerdict::kWorse:
      return page.item(signs.bad, Ink::kBad, page.safe("worse: " + comparison.sentence));
    case ComparisonVerdict::kUnknown:
      return page.item(signs.warn, Ink::kWarn, page.safe(comparison.sentence));
  }
}

// The last column: what the interval says.
std::pair<std::string_view, Ink> finding(const Delta& delta) {
  if (!delta.judged) return {"not judged", Ink::kDim};
  if (!delta.significant) return {"same", Ink::kDim};
  return delta.worse ? std::pair{std::string_view("worse"), Ink::kBad}
                     : std::pair{std::string_view("better"), Ink::kGood};
}

void put_row(Page& page, const Delta& delta) {
  const auto [word, ink] = finding(delta);
  std::string interval(page.signs().none);
  if (delta.judged) interval = fmt::format("{} to {}", signed_percent(delta.low), signed_percent(delta.high));
  const bool comparable = !delta.relative || delta.before > 0;
  std::string change = comparable ? signed_percent(delta.change) : std::string(page.signs().none);
  page.line("    " + left(delta.metric, kMetric) + right(value_text(delta, delta.before, page.unicode()), kValue) +
            right(value_text(delta, delta.after, page.unicode()), kValue) +
            page.ink(right(change, kValue), delta.significant ? ink : Ink::kPlain) + right(interval, kInterval) + "  " +
            page.ink(word, ink));
}

// In the order that readers expect, whatever the importance.
void put_place(Page& page, std::span<const Delta> deltas) {
  for (const std::string_view metric : {"p50", "p90", "p95", "p99", "p99.9", "mean", "max", "rate", "failed"}) {
    for (const Delta& delta : deltas) {
      if (delta.metric == metric) put_row(page, delta);
    }
  }
}

// How many of them, at the front, are of the whole run.
std::size_t whole_run(std::span<const Delta> deltas) {
  const auto end = std::ranges::find_if(deltas, [](const Delta& delta) { return !delta.step.empty(); });
  return static_cast<std::size_t>(end - deltas.begin());
}

// It is the whole run over again.
bool only_one_step(std::span<const Delta> deltas) {
  const Delta* first = nullptr;
  for (const Delta& delta : deltas) {
    if (delta.step.empty()) continue;
    if (first == nullptr) first = &delta;
    if (delta.step != first->step || delta.workflow != first->workflow) return false;
  }
  return first != nullptr;
}

void put_table(Page& page, const Comparison& comparison, std::size_t most_places) {
  page.blank();
  page.line(page.ink("    " + left("metric", kMetric) + right("before", kValue) + right("after", kValue) +
                         right("change", kValue) + right("95% interval", kInterval),
                     Ink::kDim));
  std::span<const Delta> rest(comparison.deltas);
  if (only_one_step(rest)) rest = rest.first(whole_run(rest));
  std::size_t shown = 0;
  std::size_t changed = 0;  // and not shown
  std::size_t unchanged = 0;
  while (!rest.empty()) {
    const Delta& first = rest.front();
    const auto end = std::ranges::find_if(
        rest, [&](const Delta& each) { return each.step != first.step || each.workflow != first.workflow; });
    const std::span<const Delta> place = rest.first(static_cast<std::size_t>(end - rest.begin()));
    rest = rest.subspan(place.size());
    // Steps in which nothing changed are counted, not shown.
    const bool significant = std::ranges::any_of(place, &Delta::significant);
    if (!first.step.empty() && (shown == most_places || !significant)) {
      ++(significant ? changed : unchanged);
      continue;
    }
    if (!first.step.empty()) {
      page.line("  " + page.ink(page.cut(first.workflow + ": " + first.step, page.columns() - 2), Ink::kBold));
      ++shown;
    }
    put_place(page, place);
  }
  if (changed > 0) {
    page.line("    " +
              page.ink(fmt::format("and {} more with changes, in the JSON output", grouped(changed)), Ink::kDim));
  }
  if (unchanged > 0) {
    page.line("    " + page.ink(fmt::format("{} without a change beyond chance, in the JSON output",
                                            unchanged == 1 ? "one step" : grouped(unchanged) + " steps"),
                                Ink::kDim));
  }
}

void put_conditions(Page& page, const Comparison& comparison) {
  if (comparison.conditions.empty()) return;
  page.heading("fail if");
  const Signs& signs = page.signs();
  for (const ConditionVerdict& each : comparison.conditions) {
    const std::string text = page.safe(each.text + ": " + each.sentence);
    if (!each.judged) {
      page.item(signs.warn, Ink::kWarn, text);
    } else if (each.fired) {
      page.item(signs.bad, Ink::kBad, text, Ink::kBad);
    } else {
      page.item(signs.good, Ink::kGood, text);
    }
  }
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const SummaryOptions& options) {
  Page page(options.colour, options.unicode, std::max<std::size_t>(options.columns, 80));
  page.line("  " + page.ink(page.cut(fmt::format("{} compared with {}", comparison.after.id, comparison.before.id),
                                     page.columns() - 2),
                            Ink::kBold));
  page.fact("before", about(page, comparison.before), Ink::kDim);
  page.fact("after", about(page, comparison.after), Ink::kDim);
  put_verdict(page, comparison);
  if (!comparison.deltas.empty()) put_table(page, comparison, options.most_rows);
  put_conditions(page, comparison);
  if (!comparison.notes.empty()) {
    page.heading("what limits this comparison");
    for (const std::string& note : comparison.notes) page.item(page.signs().warn, Ink::kWarn, page.safe(note));
  }
  return page.take();
}

}  // namespace muster::report
