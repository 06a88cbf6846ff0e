#include "console/screen/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "console/screen/blocks.h"
#include "report/figures.h"
#include "report/text_layout.h"

namespace muster::console {
namespace {

using model::WorkflowState;

struct Fact {
  std::string label;
  std::string value;
  Tone tone = Tone::kPlain;
};

std::string cores_text(const std::vector<double>& busy, std::size_t columns, bool unicode) {
  std::string each;
  for (const double share : busy) each += fmt::format("{}{:.0f}%", each.empty() ? "" : " ", share * 100);
  if (busy.size() == 1) each += " busy";
  if (each.size() <= columns) return each;
  const auto [least, most] = std::ranges::minmax(busy);
  return fmt::format("{}: {:.0f}{}{:.0f}%", busy.size(), least * 100, unicode ? "–" : "-", most * 100);
}

std::string vus_text(const ViewFigures& figures) {
  std::string text = report::grouped(figures.vus);
  if (figures.max_vus > 0) return fmt::format("{} of {}", text, report::short_count(figures.max_vus));
  if (figures.peak_vus > figures.vus) text += fmt::format(", max {}", report::short_count(figures.peak_vus));
  return text;
}

std::vector<Fact> facts_of(const ViewFigures& figures, std::size_t columns, bool unicode) {
  constexpr double kBusy = 0.9;
  std::vector<Fact> facts;
  facts.push_back({"VUs", vus_text(figures), Tone::kBold});
  facts.push_back({"rate", report::short_rate(figures.rate) + "/s", Tone::kBold});
  facts.push_back({"failed",
                   figures.failed == 0 ? std::string("none")
                                       : fmt::format("{} ({})", report::short_count(figures.failed),
                                                     report::percentage(figures.failed, figures.requests)),
                   figures.failed == 0 ? Tone::kGood : Tone::kBad});
  facts.push_back({"requests", report::grouped(figures.requests), Tone::kPlain});
  facts.push_back(
      {"rate now", figures.recent_rate ? report::short_rate(*figures.recent_rate) + "/s" : "-", Tone::kPlain});
  const bool busy = std::ranges::any_of(figures.busy, [](double share) { return share > kBusy; });
  facts.push_back({figures.busy.size() == 1 ? "core" : "cores",
                   figures.busy.empty() ? std::string("-") : cores_text(figures.busy, columns, unicode),
                   busy ? Tone::kWarn : Tone::kPlain});
  facts.push_back({"iterations", report::grouped(figures.iterations), Tone::kPlain});
  if (figures.open) {
    facts.push_back({"dropped",
                     figures.dropped == 0 ? std::string("none")
                                          : fmt::format("{} ({})", report::short_count(figures.dropped),
                                                        report::percentage(figures.dropped, figures.arrivals)),
                     figures.dropped == 0 ? Tone::kPlain : Tone::kWarn});
  }
  facts.push_back({"received", report::size_text(figures.bytes_in), Tone::kPlain});
  facts.push_back({"sent", report::size_text(figures.bytes_out), Tone::kPlain});
  return facts;
}

std::string_view state_sign(WorkflowState state, bool unicode) {
  switch (state) {
    case WorkflowState::kPending:
      return unicode ? "○" : "-";
    case WorkflowState::kRunning:
      return unicode ? "●" : "*";
    case WorkflowState::kCompleted:
      return unicode ? "✓" : "ok";
    default:
      return unicode ? "✗" : "XX";
  }
}

Tone state_tone(WorkflowState state) {
  switch (state) {
    case WorkflowState::kPending:
      return Tone::kDim;
    case WorkflowState::kRunning:
    case WorkflowState::kCompleted:
      return Tone::kGood;
    default:
      return Tone::kBad;
  }
}

// What there is to say beside the bar, most important first.
std::vector<Piece> progress_pieces(const ViewFigures& figures, const ScreenState& state, bool unicode) {
  std::vector<Piece> pieces;
  const Progress& progress = figures.progress;
  const bool running = figures.state == WorkflowState::kRunning;
  if (state.paused) pieces.push_back({"PAUSED", Tone::kWarn});
  if (state.stopping && running) pieces.push_back({"stopping", Tone::kWarn});
  if (progress.share) pieces.push_back({fmt::format("{:.0f}%", std::floor(*progress.share * 100)), Tone::kBold});
  if (running && figures.warming_up) pieces.push_back({"warming up", Tone::kWarn});
  if (running && progress.left && !state.stopping) {
    const base::Duration left = std::chrono::ceil<std::chrono::seconds>(*progress.left);
    pieces.push_back(left > base::Duration::zero()
                         ? Piece{(progress.about ? "about " : "") + report::clock_time(left) + " left", Tone::kPlain}
                         : Piece{"the last requests may finish", Tone::kPlain});
  }
  if (std::abs(state.factor - 1) > 1e-9) {
    pieces.push_back({fmt::format("load {}{:.1f}", unicode ? "×" : "x", state.factor), Tone::kWarn});
  }
  if (!running) pieces.push_back({std::string(model::to_text(figures.state)), state_tone(figures.state)});
  if (!figures.reason.empty() && !running) {
    pieces.push_back({report::printable(figures.reason, unicode), Tone::kDim});
  } else if (!progress.text.empty()) {
    pieces.push_back({report::printable(progress.text, unicode), Tone::kDim});
  }
  return pieces;
}

}  // namespace

void put_title(Frame& frame, const Area& area, const RunPlan& plan, base::Duration elapsed, bool unicode) {
  frame.fill(area, {U' ', Tone::kReverse});
  const std::string time = report::clock_time(elapsed);
  const std::size_t end = area.x + area.columns;
  if (area.columns < time.size() + 12) {
    frame.put(area.x, area.y, time, Tone::kReverse, end);
    return;
  }
  frame.put(end - time.size() - 1, area.y, time, Tone::kReverse, end);
  const std::size_t room = area.columns - time.size() - 12;
  std::string about = report::printable(plan.job, unicode);
  const std::string target = report::printable(plan.target, unicode);
  if (!target.empty() && about.find(target) == std::string::npos) {
    const std::string arrow = unicode ? " → " : " -> ";
    about = report::shortened(about, room / 2, unicode) + arrow + target;
  }
  frame.put(area.x + 1, area.y, "muster  " + report::shortened(about, room, unicode), Tone::kReverse, end);
}

void put_tabs(Frame& frame, const Area& area, const RunWatch& watch, const model::RunResult& snapshot,
              const ScreenState& state, bool unicode) {
  constexpr std::size_t kLongestName = 24;
  std::vector<std::string> texts;
  for (std::size_t view = 0; view != watch.views(); ++view) {
    const std::string name = view == 0 ? "all" : report::printable(watch.plan().workflows[view - 1].name, unicode);
    const std::string shown = report::shortened(name, kLongestName, unicode);
    texts.push_back(view < 10 ? fmt::format("{} {}", view, shown) : shown);
  }
  const std::string mode = state.pinned ? "pinned" : "taking turns";
  const std::size_t room = area.columns > mode.size() + 40 ? area.columns - mode.size() - 3 : area.columns;
  const auto taken = [&](std::size_t view) { return report::width(texts[view]) + 6; };
  std::size_t first = 0;
  std::size_t sum = 4;
  for (std::size_t view = 0; view <= state.view && view < texts.size(); ++view) sum += taken(view);
  for (; first < state.view && sum > room; ++first) sum -= taken(first);
  const std::size_t end = area.x + room;
  std::size_t x = area.x + 1;
  if (first > 0) x = frame.put(x, area.y, unicode ? "‹ " : "< ", Tone::kDim, end);
  for (std::size_t view = first; view != texts.size(); ++view) {
    if (view > first && x + taken(view) > end) {
      frame.put(std::min(x, end - 1), area.y, unicode ? "›" : ">", Tone::kDim, end);
      break;
    }
    const bool shown = view == state.view;
    x = frame.put(x, area.y, shown ? "[" : " ", Tone::kBold, end);
    x = frame.put(x, area.y, texts[view], shown ? Tone::kBold : Tone::kDim, end);
    if (view > 0) {
      const WorkflowState workflow = snapshot.workflows[view - 1].state;
      x = frame.put(x, area.y, " ", Tone::kPlain, end);
      x = frame.put(x, area.y, state_sign(workflow, unicode), state_tone(workflow), end);
    }
    x = frame.put(x, area.y, shown ? "] " : "  ", Tone::kBold, end);
  }
  if (room < area.columns) frame.put(area.x + area.columns - mode.size() - 1, area.y, mode, Tone::kDim);
}

void put_progress(Frame& frame, const Area& area, const ViewFigures& figures, const ScreenState& state, bool unicode) {
  const std::vector<Piece> pieces = progress_pieces(figures, state, unicode);
  std::size_t text = 0;
  for (const Piece& piece : pieces) text += report::width(piece.text) + 2;
  constexpr std::size_t kLeastBar = 10;
  const std::size_t end = area.x + area.columns;
  std::size_t x = area.x;
  if (figures.progress.share && area.columns >= 2 * kLeastBar) {
    const std::size_t most = std::max(area.columns / 2, kLeastBar);
    const std::size_t bar = std::clamp(area.columns > text ? area.columns - text : 0, kLeastBar, most);
    const auto done =
        static_cast<std::size_t>(std::clamp(*figures.progress.share, 0.0, 1.0) * static_cast<double>(bar));
    frame.fill({x, area.y, done, 1}, {unicode ? U'█' : U'#', Tone::kBar});
    frame.fill({x + done, area.y, bar - done, 1}, {unicode ? U'░' : U'.', Tone::kDim});
    x += bar + 2;
  }
  for (const Piece& piece : pieces) {
    if (x >= end) break;
    x = frame.put(x, area.y, report::truncated(piece.text, end - x, unicode), piece.tone, end) + 2;
  }
}

std::size_t put_facts(Frame& frame, const Area& area, const ViewFigures& figures, bool unicode) {
  constexpr std::size_t kCell = 26;
  constexpr std::size_t kLabel = 11;
  if (area.columns < kLabel + 4) return 0;
  const std::size_t across = std::clamp<std::size_t>(area.columns / kCell, 1, 5);
  const std::size_t cell = area.columns / across;
  const std::vector<Fact> facts = facts_of(figures, cell - kLabel - 1, unicode);
  std::size_t most = area.rows >= 12 ? 3 : (area.rows >= 6 ? 2 : 1);
  if (across == 1) most += 1;
  const std::size_t rows = std::min({most, (facts.size() + across - 1) / across, area.rows});
  for (std::size_t i = 0; i != std::min(facts.size(), rows * across); ++i) {
    const std::size_t x = area.x + i % across * cell;
    const std::size_t y = area.y + i / across;
    frame.put(x, y, facts[i].label, Tone::kDim, x + kLabel);
    const std::string value = report::truncated(facts[i].value, cell - kLabel - 1, unicode);
    frame.put(x + kLabel, y, value, facts[i].tone, x + cell);
  }
  return rows;
}

std::size_t put_times(Frame& frame, const Area& area, const ViewFigures& figures, bool unicode) {
  constexpr std::array<std::string_view, kTimes> kNames = {"p50", "p90", "p95", "p99", "p99.9", "max"};
  constexpr std::array<std::size_t, kTimes> kByWeight = {0, 2, 3, 5, 1, 4};
  constexpr std::size_t kLabel = 11;
  constexpr std::size_t kCell = 9;
  if (area.rows < 2 || area.columns < kLabel + kCell) return 0;
  const std::size_t count = std::min((area.columns - kLabel) / kCell, kTimes);
  std::vector<std::size_t> shown(kByWeight.begin(), kByWeight.begin() + static_cast<std::ptrdiff_t>(count));
  std::ranges::sort(shown);
  const std::size_t end = area.x + area.columns;
  const auto row = [&](std::size_t y, std::string_view label, const std::optional<Times>& times, Tone tone) {
    frame.put(area.x, y, label, Tone::kDim, end);
    std::size_t x = area.x + kLabel;
    for (const std::size_t i : shown) {
      const std::string text = times ? report::short_time((*times)[i], unicode) : std::string("-");
      x = frame.put(x, y, report::right(text, kCell), tone, end);
    }
  };
  std::size_t x = area.x + kLabel;
  for (const std::size_t i : shown) x = frame.put(x, area.y, report::right(kNames[i], kCell), Tone::kDim, end);
  row(area.y + 1, "latency", figures.latency, Tone::kPlain);
  if (area.rows < 5) return 2;
  row(area.y + 2, "last 10 s", figures.recent_latency, Tone::kBold);
  return 3;
}

void put_foot(Frame& frame, const Area& area, bool several, const ScreenState& state, bool unicode) {
  const std::size_t end = area.x + area.columns;
  if (!state.message.empty()) {
    const std::size_t room = area.columns > 2 ? area.columns - 2 : 0;
    frame.put(area.x + 1, area.y, report::truncated(report::printable(state.message, unicode), room, unicode),
              Tone::kWarn, end);
    return;
  }
  std::vector<std::pair<std::string_view, std::string_view>> keys = {
      {"q", "quit"}, {"space", state.paused ? "resume" : "pause"}, {"+ -", "load"}, {"s", "stop"}};
  if (several) keys.emplace_back(unicode ? "← →" : "Tab", "workflow");
  keys.emplace_back("?", "help");
  std::size_t x = area.x + 1;
  for (const auto& [key, does] : keys) {
    if (x + report::width(key) + 1 + does.size() >= end) break;
    x = frame.put(x, area.y, key, Tone::kBold, end);
    x = frame.put(x + 1, area.y, does, Tone::kDim, end) + 3;
  }
}

void put_help(Frame& frame, bool unicode) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kKeys = {
      {{"space", "pause, and go on"},
       {"+  -", "a tenth more or less load"},
       {"s", "stop: end the load now and judge what there is"},
       {"q  Ctrl-C", "interrupt: requests under way may finish"},
       {"", "a second time: end at once"},
       {"Tab  arrows", "next and previous workflow; stays there"},
       {"0-9  a", "that workflow; 0 or a: all together"},
       {"c", "workflows take turns again"},
       {"?  Esc", "close this"}}};
  constexpr std::size_t kKeyColumns = 13;
  std::size_t inside = 0;
  for (const auto& [key, does] : kKeys) inside = std::max(inside, kKeyColumns + does.size());
  const Size size = frame.size();
  const std::size_t columns = std::min(inside + 4, size.columns);
  const std::size_t rows = std::min(kKeys.size() + 2, size.rows);
  const std::size_t left = (size.columns - columns) / 2;
  const std::size_t top = (size.rows - rows) / 2;
  const std::size_t end = left + columns;
  frame.fill({left, top, columns, rows}, {});
  const bool framed = columns == inside + 4 && rows == kKeys.size() + 2;
  if (framed) {
    for (const std::size_t y : {top, top + rows - 1}) {
      frame.fill({left, y, columns, 1}, {unicode ? U'─' : U'-', Tone::kDim});
    }
    frame.put(left + 2, top, " keys ", Tone::kBold, end);
  }
  for (std::size_t i = 0; i != kKeys.size(); ++i) {
    const std::size_t y = top + i + (framed ? 1 : 0);
    if (y >= top + rows) break;
    frame.put(left + (framed ? 2 : 0), y, kKeys[i].first, Tone::kBold, end);
    frame.put(left + (framed ? 2 : 0) + kKeyColumns, y, kKeys[i].second, Tone::kPlain, end);
  }
}

}  // namespace muster::console
