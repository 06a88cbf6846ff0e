#include "console/results_list.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/figures.h"
#include "report/page.h"
#include "report/rfc3339.h"
#include "report/text_layout.h"

namespace muster::console {
namespace {

using nlohmann::ordered_json;
using report::left;
using report::right;

constexpr std::size_t kId = 17;
constexpr std::size_t kStarted = 14;
constexpr std::size_t kVerdict = 11;
constexpr std::size_t kFigure = 8;
constexpr std::size_t kFixedColumns = kId + kStarted + kVerdict + 3 * kFigure + 2;

std::string day_and_time(base::Duration since_1970) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_1970).count();
  return fmt::format("{:%b %d %H:%M}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

report::Ink ink_of(model::Verdict verdict) {
  switch (verdict) {
    case model::Verdict::kPassed:
      return report::Ink::kGood;
    case model::Verdict::kInterrupted:
      return report::Ink::kWarn;
    case model::Verdict::kFailed:
    case model::Verdict::kError:
      break;
  }
  return report::Ink::kBad;
}

std::string labels_text(const store::Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

}  // namespace

std::string results_table(const std::vector<store::RunRecord>& runs, const report::SummaryOptions& options,
                          base::Duration zone) {
  report::Page page(options.colour, options.unicode, std::max<std::size_t>(options.columns, 80));
  page.line(page.ink(left("id", kId) + left("started", kStarted) + left("verdict", kVerdict) + right("req/s", kFigure) +
                         right("failed", kFigure) + right("p95", kFigure) + "  job",
                     report::Ink::kDim));
  for (const store::RunRecord& run : runs) {
    const std::string p95 =
        run.requests == 0 ? std::string(page.signs().none) : report::short_time(run.p95, page.unicode());
    page.line(left(page.safe(run.id), kId) + left(day_and_time(run.started + zone), kStarted) +
              page.ink(left(model::to_text(run.verdict), kVerdict), ink_of(run.verdict)) +
              right(report::short_rate(run.rate), kFigure) +
              right(report::percentage(run.failed, run.requests), kFigure) + right(p95, kFigure) + "  " +
              page.cut(run.job, page.columns() - kFixedColumns));
    if (run.labels.empty()) continue;
    page.line(std::string(kId, ' ') +
              page.ink(page.cut(labels_text(run.labels), page.columns() - kId), report::Ink::kDim));
  }
  return page.take();
}

std::string results_json(const std::vector<store::RunRecord>& runs) {
  ordered_json list = ordered_json::array();
  const auto microseconds = [](base::Duration time) { return static_cast<double>(time.count()) / 1e3; };
  for (const store::RunRecord& run : runs) {
    ordered_json one = {{"id", run.id},
                        {"started", report::rfc3339(run.started)},
                        {"duration_s", base::seconds(run.elapsed)},
                        {"job", run.job},
                        {"version", run.version},
                        {"verdict", model::to_text(run.verdict)},
                        {"exit_code", run.exit_code},
                        {"requests", run.requests},
                        {"failed", run.failed},
                        {"rate", run.rate},
                        {"p50_us", microseconds(run.p50)},
                        {"p95_us", microseconds(run.p95)},
                        {"p99_us", microseconds(run.p99)},
                        {"bytes", run.bytes}};
    one["labels"] = ordered_json::object();
    for (const auto& [name, value] : run.labels) one["labels"][name] = value;
    list.push_back(std::move(one));
  }
  return list.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace muster::console
