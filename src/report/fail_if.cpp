#include "report/fail_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/closest.h"
#include "base/units.h"
#include "report/comparison_words.h"
#include "report/figures.h"

namespace muster::report {
namespace {

constexpr std::array<std::string_view, 10> kMetrics = {"p50",  "p90",  "p95", "p99",  "p99.9",
                                                       "p999", "mean", "max", "rate", "failed"};
constexpr std::string_view kForm =
    "expected a metric and a change, such as 'p95 +10%', 'p99 step=login +20ms', "
    "'rate -5%' or 'failed +1%'";

std::unexpected<base::Error> refuse(std::string_view text, std::string_view why) {
  return base::fail(fmt::format("--fail-if \"{}\": {}", text, why));
}

// Words separated by spaces; a word may have a part in quotes, which holds spaces: step='GET /'.
std::optional<std::vector<std::string>> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        words.back() += c;
      }
      continue;
    }
    if (c == ' ' || c == '\t') {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (c == '\'' || c == '"') {
      quote = c;
    } else {
      words.back() += c;
    }
  }
  if (quote != 0) return std::nullopt;
  return words;
}

bool is_time(std::string_view metric) {
  return metric != "rate" && metric != "failed";
}

// How much, behind the sign.
base::Expected<void> read_amount(FailIf& into, std::string_view amount) {
  if (amount.ends_with('%')) {
    const auto share = base::parse_percent(amount);
    if (!share) return std::unexpected(share.error());
    into.limit = *share;
    into.relative = into.metric != "failed";
    return {};
  }
  into.relative = false;
  if (is_time(into.metric)) {
    const auto time = base::parse_duration(amount);
    if (!time) return std::unexpected(time.error());
    into.limit = base::seconds(*time);
    return {};
  }
  if (into.metric == "rate") {
    const auto rate = base::parse_rate(amount);
    if (!rate) return std::unexpected(rate.error());
    into.limit = *rate;
    return {};
  }
  return base::fail("a change of 'failed' is written in per cent: '+1%' is one more of a hundred requests");
}

base::Expected<void> read_word(FailIf& into, const std::string& word, bool& has_change) {
  const std::size_t equals = word.find('=');
  const std::string_view key = std::string_view(word).substr(0, equals);
  if (equals != std::string::npos && (key == "step" || key == "workflow")) {
    (key == "step" ? into.step : into.workflow) = word.substr(equals + 1);
    if (equals + 1 == word.size()) return base::fail(fmt::format("'{}=' needs a name", key));
    return {};
  }
  if (word.front() != '+' && word.front() != '-') {
    return base::fail(fmt::format("a change begins with '+' or '-', found '{}'; {}", word, kForm));
  }
  if (has_change) return base::fail(fmt::format("it has a second change, '{}'; write two --fail-if", word));
  has_change = true;
  if (auto read = read_amount(into, std::string_view(word).substr(1)); !read) return read;
  if (into.limit < 0 || !std::isfinite(into.limit)) return base::fail(fmt::format("'{}' is no size of a change", word));
  if (word.front() == '-') into.limit = -into.limit;
  const bool share = into.metric == "failed";
  if (((into.relative || share) && into.limit <= -1) || (share && into.limit >= 1)) {
    return base::fail(fmt::format("'{}' can never be exceeded: nothing changes by more than all of it", word));
  }
  if (std::signbit(into.limit) && into.limit == 0) into.limit = -1e-300;  // "-0%": any fall
  return {};
}

const Delta* find(const Comparison& comparison, const FailIf& condition) {
  for (const Delta& delta : comparison.deltas) {
    const bool here = delta.step == condition.step &&
                      (condition.step.empty() || condition.workflow.empty() || delta.workflow == condition.workflow);
    if (here && delta.metric == condition.metric) return &delta;
  }
  return nullptr;
}

double change_of(const Delta& delta, const FailIf& condition) {
  return condition.relative ? delta.change : delta.after - delta.before;
}

std::string limit_text(const FailIf& condition, const Delta& delta) {
  const double size = std::abs(condition.limit) < 1e-200 ? 0 : std::abs(condition.limit);
  if (condition.relative) return signed_percent(size).substr(size * 100 < 0.005 ? 0 : 1);
  if (condition.metric == "failed") {
    const std::string points = fmt::format("{:g}", size * 100);
    return fmt::format("{} point{}", points, points == "1" ? "" : "s");
  }
  if (condition.metric == "rate") return short_rate(size) + "/s";
  return value_text(delta, size, true);
}

std::string missing_text(const Comparison& comparison, const FailIf& condition) {
  std::vector<std::string> steps;
  for (const Delta& delta : comparison.deltas) {
    if (!delta.step.empty() && std::ranges::find(steps, delta.step) == steps.end()) steps.push_back(delta.step);
  }
  return fmt::format("there is no step '{}' in both runs{}", condition.step, base::did_you_mean(condition.step, steps));
}

ConditionVerdict judge(const Comparison& comparison, const FailIf& condition, std::size_t questions,
                       const CompareOptions& options) {
  ConditionVerdict verdict;
  verdict.text = condition.text;
  const Delta* delta = find(comparison, condition);
  if (delta == nullptr) {
    verdict.sentence = missing_text(comparison, condition);
    return verdict;
  }
  const bool by_value = condition.metric == "max";
  if (condition.relative && !(delta->before > 0)) {
    verdict.sentence = fmt::format("{} was 0 before, so that a change in per cent has no meaning", metric_text(*delta));
    return verdict;
  }
  if (!delta->judged && !by_value) {
    verdict.sentence =
        fmt::format("{} could not be judged: too few seconds or samples; run for longer", metric_text(*delta));
    return verdict;
  }
  verdict.judged = true;
  const double change = change_of(*delta, condition);
  const bool beyond = condition.limit >= 0 ? change > condition.limit : change < condition.limit;
  const bool certain = by_value || significant_among(*delta, questions, options);
  verdict.fired = beyond && certain;
  verdict.sentence = fmt::format("{}, the limit is {}{}", change_sentence(*delta), limit_text(condition, *delta),
                                 beyond && !certain ? ", but that may be chance" : "");
  return verdict;
}

}  // namespace

base::Expected<FailIf> parse_fail_if(std::string_view text) {
  if (text.size() > kMaxConditionBytes) {
    return refuse(text.substr(0, 40), fmt::format("it is longer than {} bytes", kMaxConditionBytes));
  }
  const auto words = words_of(text);
  if (!words) return refuse(text, "a quote is not closed");
  if (words->empty()) return refuse(text, kForm);
  FailIf made;
  made.text = text;
  made.metric = words->front();
  if (std::ranges::find(kMetrics, made.metric) == kMetrics.end()) {
    const std::string known = made.metric.substr(0, made.metric.find_first_of("+-"));
    if (known.size() < made.metric.size() && std::ranges::find(kMetrics, known) != kMetrics.end()) {
      return refuse(text, fmt::format("a blank stands before the change; write '{} {}'", known,
                                      made.metric.substr(known.size())));
    }
    return refuse(text, fmt::format("there is no metric '{}'{}; there are {}", made.metric,
                                    base::did_you_mean(made.metric, kMetrics), fmt::join(kMetrics, ", ")));
  }
  if (made.metric == "p999") made.metric = "p99.9";
  bool has_change = false;
  for (std::size_t i = 1; i != words->size(); ++i) {
    const std::string& word = (*words)[i];
    if (word.empty()) return refuse(text, kForm);
    if (auto read = read_word(made, word, has_change); !read) return refuse(text, read.error().message);
  }
  if (!has_change) return refuse(text, kForm);
  if (!made.workflow.empty() && made.step.empty()) {
    return refuse(text, "'workflow=' needs a 'step=' beside it: what is compared is the whole run, or a step");
  }
  return made;
}

void judge_conditions(Comparison& comparison, const std::vector<FailIf>& conditions, const CompareOptions& options) {
  for (const FailIf& condition : conditions) {
    comparison.conditions.push_back(judge(comparison, condition, conditions.size(), options));
  }
}

}  // namespace muster::report
