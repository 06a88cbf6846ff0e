#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "base/units.h"
#include "target/route_handlers.h"

namespace muster::target {
namespace {

constexpr std::string_view kDelayForms =
    "expected /delay/{ms}, /delay/{a}..{b} or /delay?dist=normal|exp|lognormal&mean={time}&sd={time}, times like 20 "
    "(milliseconds), 1.5s or 300us";

void delayed(Plan& plan, base::Duration delay) {
  static const FixedReply kReply = make_fixed(200, kPlainText, "after a delay\n");
  plan.fixed = &kReply;
  plan.delay = delay;
}

// One value of the standard normal distribution (Box and Muller); 1 - unit() is never 0.
double standard_normal(base::Random& random) {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - random.unit()));
  return radius * std::cos(2.0 * std::numbers::pi * random.unit());
}

// Seconds, not negative. `mean` and `sd` are those of the result, also for the log-normal one.
std::optional<double> draw(std::string_view distribution, double mean, double sd, base::Random& random) {
  if (distribution == "normal") return std::max(0.0, mean + sd * standard_normal(random));
  if (distribution == "exp") return mean * random.exponential();
  if (distribution == "lognormal") {
    if (mean <= 0) return 0.0;
    const double variance = std::log1p(sd * sd / (mean * mean));
    return std::exp(std::log(mean) - variance / 2 + std::sqrt(variance) * standard_normal(random));
  }
  return std::nullopt;
}

void drawn_delay(const Request& request, RouteState& state, Plan& plan) {
  const auto distribution = find_parameter(request.query(), "dist");
  const auto mean = parse_delay(find_parameter(request.query(), "mean").value_or(""), state.limits);
  const auto sd = parse_delay(find_parameter(request.query(), "sd").value_or("0"), state.limits);
  if (!distribution || !mean || !sd) return refuse(plan, kDelayForms);
  const auto drawn = draw(*distribution, base::seconds(*mean), base::seconds(*sd), state.random);
  if (!drawn) return refuse(plan, kDelayForms);
  delayed(plan, std::min(base::from_seconds(*drawn), state.limits.max_delay));
}

}  // namespace

void delay_route(const Request& request, std::string_view rest, RouteState& state, Plan& plan) {
  if (rest.empty()) return drawn_delay(request, state, plan);
  const std::size_t dots = rest.find("..");
  const auto least = parse_delay(rest.substr(0, dots), state.limits);
  if (!least) return refuse(plan, kDelayForms);
  if (dots == std::string_view::npos) return delayed(plan, *least);
  const auto most = parse_delay(rest.substr(dots + 2), state.limits);
  if (!most || *most < *least) return refuse(plan, kDelayForms);
  const double share = state.random.unit();
  delayed(plan, *least + base::from_seconds(base::seconds(*most - *least) * share));
}

void drip_route(const Request& request, std::string_view rest, RouteState& state, Plan& plan) {
  const auto size = base::parse_size(rest);
  const auto over = parse_delay(find_parameter(request.query(), "over").value_or("1s"), state.limits);
  if (!size || *size > state.limits.max_reply_bytes || !over) {
    return refuse(plan, "expected /drip/{bytes}?over={time}, like /drip/100?over=2s");
  }
  plan.filler = *size;
  plan.drip = *over;
  write_filler_head(plan, 200, "application/octet-stream", *size);
}

void stall_route(const Request&, std::string_view, RouteState&, Plan& plan) {
  plan.ending = Ending::kHold;
}

void stall_all_route(const Request& request, std::string_view, RouteState& state, Plan& plan) {
  const auto length = parse_delay(find_parameter(request.query(), "for").value_or("1s"), state.limits);
  if (!length) return refuse(plan, "expected /stall-all?for={time}, like /stall-all?for=1s");
  plan.stall = *length;
  write_reply(plan, 200, kPlainText, fmt::format("stalling for {}\n", base::format_duration(*length)));
}

}  // namespace muster::target
