#include <string>

#include "target/route_handlers.h"

namespace muster::target {
namespace {

constexpr std::uint64_t kBrokenBody = 2048;
constexpr std::uint64_t kEndless = std::uint64_t{1} << 40;

// Announces kBrokenBody bytes and sends half of them.
void half_body(Plan& plan, Ending ending) {
  write_filler_head(plan, 200, "application/octet-stream", kBrokenBody);
  plan.filler = kBrokenBody / 2;
  plan.ending = ending;
}

std::string_view header_lines() {
  static const std::string kLines = [] {
    std::string text;
    while (text.size() < std::size_t{16} * 1024) text += "X-Filler: abcdefghijklmnopqrstuvwxyz\r\n";
    return text;
  }();
  return kLines;
}

}  // namespace

void reset_route(const Request&, std::string_view, RouteState&, Plan& plan) {
  plan.ending = Ending::kReset;
}

void reset_mid_route(const Request&, std::string_view, RouteState&, Plan& plan) {
  half_body(plan, Ending::kReset);
}

void half_close_route(const Request&, std::string_view, RouteState&, Plan& plan) {
  half_body(plan, Ending::kHalfClose);
}

void truncated_route(const Request&, std::string_view, RouteState&, Plan& plan) {
  half_body(plan, Ending::kClose);
}

void garbage_route(const Request&, std::string_view, RouteState&, Plan& plan) {
  plan.text = "\x16\x03garbage \x01\x02\x03 that is not HTTP\r\n\r\n\xff\xfe\x7f more of it\n";
  plan.ending = Ending::kClose;
}

// One endless line, or with ?lines endless lines.
void oversized_header_route(const Request& request, std::string_view, RouteState&, Plan& plan) {
  static const std::string kLine(std::size_t{16} * 1024, 'x');
  if (find_parameter(request.query(), "lines")) {
    plan.text = "HTTP/1.1 200 OK\r\n";
    plan.pattern = header_lines();
  } else {
    plan.text = "HTTP/1.1 200 OK\r\nX-Filler: ";
    plan.pattern = kLine;
  }
  plan.filler = kEndless;
  plan.ending = Ending::kClose;
}

void oversized_body_route(const Request&, std::string_view, RouteState&, Plan& plan) {
  write_filler_head(plan, 200, "application/octet-stream", kEndless);
  plan.filler = kEndless;
  plan.ending = Ending::kClose;
}

void flaky_route(const Request&, std::string_view rest, RouteState& state, Plan& plan) {
  static const FixedReply kGood = make_fixed(200, kPlainText, "well\n");
  static const FixedReply kBad = make_fixed(500, kPlainText, "failed on purpose\n");
  const auto percent = parse_whole(rest);
  if (!percent || *percent > 100) return refuse(plan, "expected /flaky/{percent}, like /flaky/10");
  plan.fixed = state.random.below(100) < *percent ? &kBad : &kGood;
}

void close_route(const Request&, std::string_view, RouteState&, Plan& plan) {
  static const FixedReply kReply = make_fixed(200, kPlainText, "closing\n");
  plan.fixed = &kReply;
  plan.ending = Ending::kClose;
}

}  // namespace muster::target
