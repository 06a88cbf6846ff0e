// The URLs of the embedded server and what each does (docs/target.md): request in, plan of the reply out. Pure, except
// that /counter counts; no socket, clock or unseeded randomness.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/random.h"
#include "protocol/http1_error.h"
#include "target/options.h"
#include "target/plan.h"
#include "target/request.h"

namespace muster::target {

// What becomes of a request's body while it arrives.
enum class BodyUse : std::uint8_t { kCount, kKeep, kDigest };

struct RouteState {
  base::Random& random;
  std::atomic<std::uint64_t>& counter;  // shared by all cores
  const Limits& limits;
};

// `rest` is the path after the route's name and the '/' that ends it: "200" of /status/200.
using Handler = void (*)(const Request& request, std::string_view rest, RouteState& state, Plan& plan);

struct Route {
  std::string_view name;  // the first segment of the path
  Handler handler;
  BodyUse body = BodyUse::kCount;
};

// Never fails: what no route serves is answered with 404.
const Route& find_route(std::string_view path);

// The plan for a complete request. `plan` is clear.
void plan_reply(const Route& route, const Request& request, RouteState& state, Plan& plan);

// For requests that never reach a route; the connection ends after them.
void plan_refusal(protocol::Http1Error error, bool in_start_line, Plan& plan);
void plan_refusal(unsigned status, std::string_view why, Plan& plan);

}  // namespace muster::target
