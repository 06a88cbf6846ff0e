#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "report/figures.h"
#include "report/html/options.h"
#include "report/html/sections.h"

namespace muster::report::html {
namespace {

std::string amount(const Delta& delta, double value) {
  switch (delta.unit) {
    case DeltaUnit::kSeconds:
      return short_time(base::from_seconds(value), true);
    case DeltaUnit::kPerSecond:
      return short_rate(value) + "/s";
    case DeltaUnit::kShare:
      return fmt::format("{}%", plain_number(value * 100));
  }
  return {};
}

// "+5.2%" of what was before, or "+0.3 points" between two shares.
std::string change_text(const Delta& delta, double change) {
  if (!std::isfinite(change)) return "–";
  const double percent = change * 100;
  const double size = std::abs(percent);
  // What is shown as nothing has no direction.
  const std::string_view sign = size < 0.005 ? "±" : (percent < 0 ? "−" : "+");
  return fmt::format("{}{:.{}f}{}", sign, size, size < 0.995 ? 2 : (size < 99.95 ? 1 : 0),
                     delta.relative ? "%" : " points");
}

std::string place_text(const Delta& delta) {
  if (delta.workflow.empty() && delta.step.empty()) return "the whole run";
  if (delta.step.empty()) return delta.workflow;
  return delta.workflow.empty() ? delta.step : fmt::format("{} · {}", delta.workflow, delta.step);
}

// How far the picture of the intervals reaches to either side: as far as they do, within reason.
double reach_of(const Comparison& comparison, bool relative) {
  double most = relative ? 0.05 : 0.001;
  for (const Delta& delta : comparison.deltas) {
    if (delta.relative != relative || !delta.judged) continue;
    for (const double bound : {delta.low, delta.high}) {
      if (std::isfinite(bound)) most = std::max(most, std::abs(bound));
    }
  }
  return std::min(most, 1.0);
}

void put_interval(Markup& page, const Delta& delta, double reach, std::string_view kind) {
  if (!delta.judged || !std::isfinite(delta.low) || !std::isfinite(delta.high)) {
    page.raw("<td>–</td>");
    return;
  }
  const auto x = [&](double change) { return 60 + 56 * std::clamp(change / reach, -1.0, 1.0); };
  page.put("<td><svg class=\"interval {}\" viewBox=\"0 0 120 16\" role=\"img\"><title>{} to {}</title>", kind,
           change_text(delta, delta.low), change_text(delta, delta.high));
  page.put("<path class=\"zero\" d=\"M60 0v16\"/><path class=\"range\" d=\"M{:.1f} 8H{:.1f}\"/>", x(delta.low),
           std::max(x(delta.high), x(delta.low) + 0.5));
  if (std::isfinite(delta.change)) page.put("<circle cx=\"{:.1f}\" cy=\"8\" r=\"3.5\"/>", x(delta.change));
  page.put("</svg><small>{} to {}</small></td>", change_text(delta, delta.low), change_text(delta, delta.high));
}

void put_delta(Markup& page, const Delta& delta, double reach) {
  const std::string_view kind = !delta.significant ? "same" : (delta.worse ? "bad" : "good");
  std::string_view verdict = "no clear change";
  if (delta.significant) verdict = delta.worse ? "worse" : "better";
  if (!delta.judged) verdict = "not judged";
  page.put("<tr{}><td class=\"{}\">{}{}</td><th scope=\"row\">{}</th><td>{}</td>",
           Safe{delta.headline ? " class=\"headline\"" : ""}, kind, verdict, delta.rare ? ", few samples" : "",
           delta.metric, place_text(delta));
  put_cell(page, delta.before, amount(delta, delta.before));
  put_cell(page, delta.after, amount(delta, delta.after));
  put_cell(page, std::isfinite(delta.change) ? delta.change : 0, change_text(delta, delta.change), kind);
  put_interval(page, delta, reach, kind);
  page.raw("</tr>\n");
}

void put_identity(Markup& page, std::string_view role, const RunIdentity& run, std::size_t seconds) {
  page.put("<div><dt>{}</dt><dd><b>{}</b> {}<br><small>{} · ran {} · {} · {} · {} compared", role, run.id, run.job,
           utc_time(run.started), short_time(run.elapsed, true), model::to_text(run.verdict),
           plural(run.requests, "request"), plural(seconds, "second"));
  for (const auto& [name, value] : run.labels) page.put(" · {}={}", name, value);
  page.raw("</small></dd></div>\n");
}

// What became of each --fail-if.
void put_conditions(Markup& page, const std::vector<ConditionVerdict>& conditions) {
  if (conditions.empty()) return;
  page.raw("<ul>\n");
  for (std::size_t i = 0; i != std::min(conditions.size(), kMaxRows); ++i) {
    const ConditionVerdict& condition = conditions[i];
    page.put("<li><b class=\"{}\">{}</b> <code>{}</code> {}</li>\n",
             !condition.judged ? "warn" : (condition.fired ? "bad" : "good"),
             !condition.judged ? "not judged" : (condition.fired ? "fails the run" : "does not apply"), condition.text,
             condition.sentence);
  }
  page.raw("</ul>\n");
}

template <class Wanted>
void put_deltas(Markup& page, const Comparison& comparison, Wanted&& wanted) {
  const double relative = reach_of(comparison, true);
  const double absolute = reach_of(comparison, false);
  std::size_t rows = 0;
  std::size_t left_out = 0;
  put_table(page, "Comparison", {"Verdict", "Metric", "Where", "#Before", "#After", "#Change", "95 % interval"});
  for (const Delta& delta : comparison.deltas) {
    if (!wanted(delta)) continue;
    if (rows++ >= kMaxRows) {
      ++left_out;
      continue;
    }
    put_delta(page, delta, delta.relative ? relative : absolute);
  }
  end_table(page, left_out);
}

std::string_view verdict_kind(ComparisonVerdict verdict) {
  switch (verdict) {
    case ComparisonVerdict::kWorse:
      return "bad";
    case ComparisonVerdict::kBetter:
      return "good";
    case ComparisonVerdict::kUnknown:
      return "warn";
    case ComparisonVerdict::kSame:
      break;
  }
  return "same";
}

}  // namespace

void put_comparison(Markup& page, const Comparison& comparison) {
  put_section(page, "comparison", "Comparison with an earlier run");
  page.put("<p class=\"lead {}\">{}</p>\n<dl class=\"facts\">\n", verdict_kind(comparison.verdict),
           comparison.sentence);
  put_identity(page, "Before", comparison.before, comparison.seconds_before);
  put_identity(page, "After", comparison.after, comparison.seconds_after);
  page.raw("</dl>\n");
  put_conditions(page, comparison.conditions);
  if (!comparison.notes.empty()) {
    page.raw("<ul>\n");
    for (std::size_t i = 0; i != std::min(comparison.notes.size(), kMaxRows); ++i) {
      page.put("<li>{}</li>\n", comparison.notes[i]);
    }
    page.raw("</ul>\n");
  }
  const auto first = [](const Delta& delta) { return delta.headline || delta.significant; };
  put_deltas(page, comparison, first);
  const auto rest = std::ranges::count_if(comparison.deltas, [&](const Delta& delta) { return !first(delta); });
  if (rest > 0) {
    page.put("<details><summary>{} without a clear change</summary>\n",
             plural(static_cast<std::uint64_t>(rest), "more figure"));
    put_deltas(page, comparison, [&](const Delta& delta) { return !first(delta); });
    page.raw("</details>\n");
  }
  end_section(page);
}

}  // namespace muster::report::html
