// The handlers behind the table in routes.cpp, by subject, and what they share. Only this room's route files include
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "target/reply_text.h"
#include "target/routes.h"

namespace muster::target {

// 400 with a sentence.
void refuse(Plan& plan, std::string_view why);

// Decimal digits, all of `text`.
std::optional<std::uint64_t> parse_whole(std::string_view text);

// "20" (milliseconds) or "1.5s"; refused above the limit.
std::optional<base::Duration> parse_delay(std::string_view text, const Limits& limits);

// Fixed and made-up content (routes.cpp).
// Timing (route_delays.cpp).
void delay_route(const Request&, std::string_view, RouteState&, Plan&);
void drip_route(const Request&, std::string_view, RouteState&, Plan&);
void stall_route(const Request&, std::string_view, RouteState&, Plan&);
void stall_all_route(const Request&, std::string_view, RouteState&, Plan&);

// Faults (route_faults.cpp).
void reset_route(const Request&, std::string_view, RouteState&, Plan&);
void reset_mid_route(const Request&, std::string_view, RouteState&, Plan&);
void half_close_route(const Request&, std::string_view, RouteState&, Plan&);
void garbage_route(const Request&, std::string_view, RouteState&, Plan&);
void oversized_header_route(const Request&, std::string_view, RouteState&, Plan&);
void oversized_body_route(const Request&, std::string_view, RouteState&, Plan&);
void truncated_route(const Request&, std::string_view, RouteState&, Plan&);
void flaky_route(const Request&, std::string_view, RouteState&, Plan&);
void close_route(const Request&, std::string_view, RouteState&, Plan&);

// What was received (route_inspection.cpp).
void echo_route(const Request&, std::string_view, RouteState&, Plan&);
void headers_route(const Request&, std::string_view, RouteState&, Plan&);
void upload_route(const Request&, std::string_view, RouteState&, Plan&);
void cookies_route(const Request&, std::string_view, RouteState&, Plan&);

// Accounts (route_accounts.cpp).
void login_route(const Request&, std::string_view, RouteState&, Plan&);
void me_route(const Request&, std::string_view, RouteState&, Plan&);
void basic_auth_route(const Request&, std::string_view, RouteState&, Plan&);

}  // namespace muster::target
