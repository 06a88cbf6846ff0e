#include <fmt/format.h>

#include <algorithm>

#include "model/window_words.h"
#include "report/figures.h"
#include "report/html/options.h"
#include "report/html/sections.h"
#include "report/threshold_text.h"

namespace muster::report::html {
namespace {

using model::Verdict;

struct Look {
  std::string_view kind;  // class of the style sheet
  std::string_view word;
  std::string_view path;  // of the sign, in a box of 24 by 24
};

constexpr std::string_view kTick = "M5 12.5l4.5 4.5L19 7.5";
constexpr std::string_view kCross = "M6.5 6.5l11 11m0-11l-11 11";
constexpr std::string_view kBang = "M12 5.5v8m0 4.4v.2";

Look look_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return {"good", "Passed", kTick};
    case Verdict::kFailed:
      return {"bad", "Failed", kCross};
    case Verdict::kInterrupted:
      return {"warn", "Interrupted", kBang};
    case Verdict::kError:
      return {"bad", "Error", kCross};
  }
  return {"bad", "Error", kCross};
}

void put_sign(Markup& page, std::string_view path) {
  page.put("<svg class=\"sign\" viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path d=\"{}\"/></svg>", path);
}

void put_tile(Markup& page, std::string_view label, std::string_view value, std::string_view detail,
              std::string_view kind = {}) {
  page.put("<div{}><dt>{}</dt><dd class=\"value\">{}</dd><dd>{}</dd></div>\n",
           Safe{kind.empty() ? "" : (kind == "bad" ? " class=\"bad\"" : " class=\"good\"")}, label, value, detail);
}

std::string_view load_sentence(LoadModel load) {
  switch (load) {
    case LoadModel::kClosed:
      return "Closed loop: latency is service time; a stalled server also slows the load.";
    case LoadModel::kOpen:
      return "Open model: latency counts from when each arrival was due, so a stalled server shows in full.";
    case LoadModel::kMixed:
      return "Mixed: latency of open workflows counts from when each arrival was due, that of closed ones is service "
             "time.";
  }
  return {};
}

// Over what it was judged: what `where` picks, at once or in every window.
std::string judged_over(const model::ThresholdVerdict& verdict) {
  const std::string_view comma = verdict.window > base::Duration::zero() ? "," : "";
  return fmt::format("{}{}{}", verdict.where.empty() ? "the whole run" : std::string_view(verdict.where), comma,
                     model::window_words(verdict.window));
}

void put_threshold(Markup& page, const model::ThresholdVerdict& verdict) {
  const std::string_view kind = !verdict.judged ? "warn" : (verdict.passed ? "good" : "bad");
  page.put("<tr><td class=\"state {}\">", kind);
  put_sign(page, !verdict.judged ? kBang : (verdict.passed ? kTick : kCross));
  page.put("{}</td><th scope=\"row\"><code>{}</code></th><td>{}</td>",
           !verdict.judged ? "not judged" : (verdict.passed ? "held" : "failed"), verdict.text, judged_over(verdict));
  if (verdict.judged) {
    put_cell(page, verdict.value, measured_text(verdict, true));
  } else {
    put_cell(page, -1, "–");
  }
  put_count(page, verdict.samples);
  if (verdict.judged && !verdict.passed) {
    put_cell(page, base::seconds(verdict.failed_at),
             fmt::format("{}{}", clock_time(verdict.failed_at), verdict.aborted ? ", ended the run" : ""));
  } else {
    put_cell(page, -1, "–");
  }
  page.raw("</tr>\n");
}

}  // namespace

void put_verdict(Markup& page, const model::RunResult& run, const Comparison* comparison) {
  const Look look = look_of(run.verdict);
  page.put("<header class=\"verdict {}\">\n<p class=\"word\">", look.kind);
  put_sign(page, look.path);
  page.put("{}</p>\n<h1>{}</h1>\n", look.word, run.job.empty() ? "Load test" : std::string_view(run.job));
  if (!run.reason.empty()) page.put("<p class=\"reason\">{}</p>\n", run.reason);
  if (comparison != nullptr && !comparison->sentence.empty()) {
    page.put("<p class=\"reason\">Against {}: {}</p>\n", comparison->before.id, comparison->sentence);
  }
  page.put("<p class=\"meta\"><time>{}</time> · ran {} · muster {}</p>\n</header>\n", utc_time(run.started),
           short_time(run.elapsed, true), run.version);
}

void put_marks(Markup& page, const model::RunResult& run) {
  if (run.marks.empty()) return;
  page.raw(
      "<section class=\"card marks\" aria-labelledby=\"marks-title\">\n<h2 id=\"marks-title\">Read these numbers with "
      "care</h2>\n<ul>\n");
  for (std::size_t i = 0; i != std::min(run.marks.size(), kMaxRows); ++i) {
    page.put("<li><strong>{}</strong> {}</li>\n", run.marks[i].id, run.marks[i].text);
  }
  page.raw("</ul>\n</section>\n");
}

void put_figures(Markup& page, const model::RunResult& run, const Totals& sum) {
  page.raw("<section aria-label=\"Key figures\">\n<dl class=\"tiles\">\n");
  put_tile(page, "Requests", short_count(sum.requests), fmt::format("{}/s", short_rate(sum.rate())));
  put_tile(page, "Failed", percentage(sum.failed, sum.requests),
           sum.failed == 0 ? "none" : fmt::format("{} requests", short_count(sum.failed)),
           sum.failed > 0 ? "bad" : (sum.requests > 0 ? "good" : ""));
  const auto time = [&](base::Duration value) {
    return sum.latency.empty() ? std::string("–") : short_time(value, true);
  };
  put_tile(page, "Median", time(sum.latency.quantile(0.5)), fmt::format("mean {}", time(sum.latency.mean())));
  put_tile(page, "p95", time(sum.latency.quantile(0.95)), fmt::format("p90 {}", time(sum.latency.quantile(0.9))));
  put_tile(page, "p99", time(sum.latency.quantile(0.99)), fmt::format("p99.9 {}", time(sum.latency.quantile(0.999))));
  put_tile(page, "Slowest", time(sum.latency.max()), fmt::format("fastest {}", time(sum.latency.min())));
  put_tile(page, "Peak users", short_count(peak_vus(run)), "virtual");
  put_tile(page, "Received", size_text(sum.bytes_in), fmt::format("sent {}", size_text(sum.bytes_out)));
  std::uint64_t arrivals = 0;
  std::uint64_t dropped = 0;
  for (const model::WorkflowResult& workflow : run.workflows) {
    arrivals += workflow.arrivals;
    dropped += workflow.dropped;
  }
  if (arrivals > 0) {
    put_tile(page, "Dropped", percentage(dropped, arrivals), fmt::format("{} arrivals", short_count(dropped)),
             dropped > 0 ? "bad" : "good");
  }
  page.put("</dl>\n<p class=\"about\">{}</p>\n</section>\n", load_sentence(load_model(run)));
}

void put_thresholds(Markup& page, const model::RunResult& run) {
  if (run.thresholds.empty()) return;
  put_section(page, "thresholds", "Thresholds");
  put_table(page, "Thresholds", {"Verdict", "Threshold", "Where", "#Measured", "#Samples", "#First failed at"});
  const std::size_t rows = std::min(run.thresholds.size(), kMaxRows);
  for (std::size_t i = 0; i != rows; ++i) put_threshold(page, run.thresholds[i]);
  end_table(page, run.thresholds.size() - rows);
  end_section(page);
}

}  // namespace muster::report::html
