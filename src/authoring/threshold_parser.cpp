#include "authoring/threshold_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "authoring/options.h"
#include "authoring/token.h"
#include "base/characters.h"
#include "base/closest.h"
#include "base/units.h"

namespace muster::authoring {
namespace {

using model::Comparison;
using model::Threshold;

enum class Bound : std::uint8_t { kTime, kShare, kRate, kCount, kAny };

struct Aggregate {
  std::string_view name;
  Bound bound;
};

struct Metric {
  std::string_view name;
  std::span<const Aggregate> aggregates;
  std::optional<Bound> percentiles = {};  // whether pNN is allowed, and what it is
};

constexpr std::array kTimes{Aggregate{"min", Bound::kTime}, Aggregate{"mean", Bound::kTime},
                            Aggregate{"std", Bound::kTime}, Aggregate{"max", Bound::kTime}};
constexpr std::array kFailures{Aggregate{"rate", Bound::kShare}, Aggregate{"count", Bound::kCount}};
constexpr std::array kEvents{Aggregate{"rate", Bound::kRate}, Aggregate{"count", Bound::kCount}};
constexpr std::array kChecks{Aggregate{"rate", Bound::kShare}, Aggregate{"count", Bound::kCount},
                             Aggregate{"failed", Bound::kCount}};
constexpr std::array kOwn{Aggregate{"count", Bound::kCount}, Aggregate{"rate", Bound::kAny},
                          Aggregate{"value", Bound::kAny},   Aggregate{"min", Bound::kAny},
                          Aggregate{"mean", Bound::kAny},    Aggregate{"std", Bound::kAny},
                          Aggregate{"max", Bound::kAny}};

constexpr std::array kMetrics{Metric{"latency", kTimes, Bound::kTime},
                              Metric{"service", kTimes, Bound::kTime},
                              Metric{"lateness", kTimes, Bound::kTime},
                              Metric{"failed", kFailures},
                              Metric{"requests", kEvents},
                              Metric{"iterations", kEvents},
                              Metric{"failed_iterations", kFailures},
                              Metric{"dropped", kFailures},
                              Metric{"checks", kChecks}};

struct ComparisonSign {
  std::string_view spelling;
  Comparison comparison;
};

constexpr std::array kComparisonSigns{
    ComparisonSign{"<", Comparison::kLess},    ComparisonSign{"<=", Comparison::kLessEqual},
    ComparisonSign{">", Comparison::kGreater}, ComparisonSign{">=", Comparison::kGreaterEqual},
    ComparisonSign{"==", Comparison::kEqual},  ComparisonSign{"!=", Comparison::kNotEqual}};

Metric metric_named(std::string_view name) {
  for (const Metric& metric : kMetrics) {
    if (metric.name == name) return metric;
  }
  return {name, kOwn, Bound::kAny};
}

// p50, p99.9: more than 0 and at most 100.
bool is_percentile(std::string_view word) {
  if (!word.starts_with('p') || word.size() > 10) return false;
  const std::string_view digits = word.substr(1);
  if (digits.find_first_not_of("0123456789.") != std::string_view::npos) return false;
  const auto value = base::parse_number(digits);
  return value && *value > 0 && *value <= 100;
}

// What others call our aggregates.
std::string_view our_word(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kWords{{{"avg", "mean"},
                                                                                 {"average", "mean"},
                                                                                 {"med", "p50"},
                                                                                 {"median", "p50"},
                                                                                 {"stddev", "std"},
                                                                                 {"minimum", "min"},
                                                                                 {"maximum", "max"}}};
  const auto* const found = std::ranges::find(kWords, word, [](const auto& each) { return each.first; });
  return found == kWords.end() ? std::string_view() : found->second;
}

std::string allowed(const Metric& metric) {
  std::vector<std::string_view> names;
  for (const Aggregate& aggregate : metric.aggregates) names.push_back(aggregate.name);
  if (metric.percentiles) names.emplace_back("p50 … p99.99");
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string_view example(Bound bound) {
  switch (bound) {
    case Bound::kTime:
      return "300ms";
    case Bound::kShare:
      return "1%";
    case Bound::kRate:
      return "100/s";
    case Bound::kCount:
      return "10";
    case Bound::kAny:
      break;
  }
  return "10, 1% or 300ms";
}

// Reads word after word; the first thing that is wrong ends it.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text), tokens_(text) {}

  std::expected<Threshold, ExpressionError> read() {
    Threshold threshold;
    threshold.text = text_;
    if (auto step = advance(); !step) return std::unexpected(step.error());
    if (token_.kind != TokenKind::kName) {
      return error_at(token_.offset,
                      fmt::format("expected a metric such as latency, failed or requests, found {}", found(token_)));
    }
    const std::size_t metric_place = token_.offset;
    if (is_percentile(percentile_word(metric_place))) {
      return error_at(metric_place,
                      fmt::format("this says no metric; write `latency {}`", trimmed(text_.substr(metric_place))));
    }
    threshold.metric = token_.spelling;
    const Metric metric = metric_named(token_.spelling);
    const auto bound = aggregate(metric, metric_place);
    if (!bound) return std::unexpected(bound.error());
    threshold.aggregate = aggregate_;

    const auto* const symbol = std::ranges::find_if(kComparisonSigns, [this](const ComparisonSign& each) {
      return token_.kind == TokenKind::kOperator && token_.spelling == each.spelling;
    });
    if (symbol == kComparisonSigns.end()) {
      return error_at(token_.offset, fmt::format("expected one of < <= > >= == !=, found {}", found(token_)));
    }
    threshold.comparison = symbol->comparison;
    const bool equality = symbol->comparison == Comparison::kEqual || symbol->comparison == Comparison::kNotEqual;
    if (equality && (*bound == Bound::kTime || *bound == Bound::kRate)) {
      return error_at(token_.offset,
                      fmt::format("a {} that is measured hardly ever is an exact value; use < or > instead "
                                  "of {}",
                                  *bound == Bound::kTime ? "time" : "rate", symbol->spelling));
    }
    const std::size_t place = token_.offset;
    const auto value = limit(*bound);
    if (!value) return std::unexpected(value.error());
    threshold.bound = *value;
    if (const std::string why = never_holds(threshold, *bound); !why.empty()) return error_at(place, why);
    return threshold;
  }

 private:
  // Why no run can meet it; empty if one can.
  static std::string never_holds(const Threshold& threshold, Bound bound) {
    const bool below_nothing = threshold.comparison == Comparison::kLess && threshold.bound <= 0;
    if (bound == Bound::kTime && below_nothing) {
      return "a time is never less than 0, so this can never hold; write a limit such as `< 300ms`";
    }
    // A counter of the user's own may be fed with anything.
    const bool ours = std::ranges::find(kMetrics, threshold.metric, &Metric::name) != kMetrics.end();
    if (ours && (bound == Bound::kCount || bound == Bound::kRate) && below_nothing) {
      return fmt::format("a {} is never less than 0, so this can never hold; write `{}`",
                         bound == Bound::kCount ? "count" : "rate", bound == Bound::kCount ? "== 0" : "<= 0");
    }
    if (bound != Bound::kShare) return {};
    if (threshold.comparison == Comparison::kGreater && threshold.bound >= 1) {
      const bool bare = trimmed(threshold.text).back() != '%';
      return fmt::format("a share is never more than 100%, so this can never hold; write `>= 100%`{}",
                         bare ? ", or `> 1%` if one in a hundred is meant" : "");
    }
    return below_nothing ? "a share is never less than 0%, so this can never hold; write `<= 0%`" : "";
  }

  std::expected<void, ExpressionError> advance() {
    auto token = tokens_.next();
    if (!token) return std::unexpected(std::move(token.error()));
    token_ = std::move(*token);
    return {};
  }

  // Reads the aggregate and the token after it.
  std::expected<Bound, ExpressionError> aggregate(const Metric& metric, std::size_t metric_place) {
    if (auto step = advance(); !step) return std::unexpected(step.error());
    if (token_.kind != TokenKind::kName) {
      return error_at(token_.offset, fmt::format("expected what of '{}' to look at ({}), found {}{}", metric.name,
                                                 allowed(metric), found(token_), metric_hint(metric)));
    }
    const std::size_t place = token_.offset;
    std::size_t end = place + token_.spelling.size();
    // p99.9 is two tokens to the tokenizer; here it is one word.
    while (end < text_.size() && (text_[end] == '.' || base::is_digit(text_[end]))) ++end;
    aggregate_ = text_.substr(place, end - place);
    tokens_ = Tokenizer(text_, end);
    if (auto step = advance(); !step) return std::unexpected(step.error());

    if (metric.percentiles && is_percentile(aggregate_)) return *metric.percentiles;
    std::vector<std::string_view> names;
    for (const Aggregate& each : metric.aggregates) {
      if (each.name == aggregate_) return each.bound;
      names.push_back(each.name);
    }
    const std::string hint = metric_hint(metric);
    if (const std::string_view own = our_word(aggregate_); !own.empty() && hint.empty()) {
      return error_at(place, fmt::format("'{}' is called {} here: write `{} {} …`", aggregate_, own, metric.name, own));
    }
    return error_at(hint.empty() ? place : metric_place,
                    fmt::format("'{}' of '{}' is not known; allowed are {}{}", aggregate_, metric.name, allowed(metric),
                                hint.empty() ? base::did_you_mean(aggregate_, names) : hint));
  }

  // p99.9 is two tokens to the tokenizer; here it is one word.
  std::string_view percentile_word(std::size_t from) const {
    std::size_t end = from;
    while (end < text_.size() && std::string_view(" <>=!").find(text_[end]) == std::string_view::npos) ++end;
    return text_.substr(from, end - from);
  }

  static std::string_view trimmed(std::string_view text) { return text.substr(0, text.find_last_not_of(' ') + 1); }

  // Whether the number is followed by a space and then only a unit of time.
  bool unit_follows() const {
    const std::string_view rest = text_.substr(token_.offset + token_.spelling.size());
    const std::size_t word = rest.find_first_not_of(' ');
    if (word == 0 || word == std::string_view::npos) return false;
    return base::parse_duration(fmt::format("1{}", trimmed(rest.substr(word)))).has_value();
  }

  // A metric of the user's own may be a slip of the name of one of ours.
  static std::string metric_hint(const Metric& metric) {
    std::vector<std::string_view> names;
    for (const Metric& each : kMetrics) names.push_back(each.name);
    return std::ranges::find(names, metric.name) == names.end() ? base::did_you_mean(metric.name, names)
                                                                : std::string();
  }

  std::expected<double, ExpressionError> limit(Bound bound) {
    if (auto step = advance(); !step) return std::unexpected(step.error());
    const bool negative = token_.kind == TokenKind::kOperator && token_.spelling == "-";
    const std::size_t place = token_.offset;
    if (negative) {
      if (auto step = advance(); !step) return std::unexpected(step.error());
    }
    const auto wrong = [&](std::string_view why) {
      return error_at(place, fmt::format("{}, found {}", why, found(token_)));
    };
    const std::string expected = fmt::format("expected a limit such as {}", example(bound));
    if (token_.kind != TokenKind::kNumber) return wrong(expected);
    if (negative && bound != Bound::kAny) return error_at(place, "this can never be negative; " + expected);
    const char last = token_.spelling.back();
    const bool bare = base::is_digit(last);
    const bool percent = last == '%';
    if (bound == Bound::kTime && bare && unit_follows()) {
      return error_at(place,
                      fmt::format("no space stands before a unit; write {}{}", token_.spelling,
                                  text_.substr(text_.find_first_not_of(' ', token_.offset + token_.spelling.size()))));
    }
    if (bound == Bound::kTime && (percent || (bare && token_.number.number() != 0))) {
      return wrong(fmt::format("a time needs a unit, such as {}", example(bound)));
    }
    if (bound == Bound::kShare && !percent && (!bare || token_.number.number() > 1)) {
      return wrong("expected a share such as 1% or 0.01");
    }
    if (bound == Bound::kShare && percent && token_.number.number() > 1) return wrong("a share is at most 100%");
    if ((bound == Bound::kRate || bound == Bound::kCount) && !bare) return wrong(expected);
    double value = negative ? -token_.number.number() : token_.number.number();
    const std::size_t start = token_.offset;
    if (auto step = advance(); !step) return std::unexpected(step.error());
    if (token_.kind == TokenKind::kOperator && token_.spelling == "/" &&
        (bound == Bound::kRate || bound == Bound::kAny)) {
      const auto rate = base::parse_rate(text_.substr(start));
      if (!rate) return error_at(start, rate.error().message);
      return negative ? -*rate : *rate;
    }
    if (token_.kind != TokenKind::kEnd) {
      const bool joined = token_.spelling == "and" || token_.spelling == "&&" || token_.spelling == "or" ||
                          token_.spelling == "||" || token_.spelling == ",";
      return error_at(token_.offset, fmt::format("expected the end, found {}{}", found(token_),
                                                 joined ? "; a threshold is one comparison: make them two" : ""));
    }
    return value;
  }

  std::string_view text_;
  Tokenizer tokens_;
  Token token_;
  std::string_view aggregate_;
};

}  // namespace

std::expected<Threshold, ExpressionError> parse_threshold(std::string_view text) {
  if (text.size() > kExpressionLimits.text_bytes) return error_at(0, "this threshold is too long");
  return Reader(text).read();
}

}  // namespace muster::authoring
