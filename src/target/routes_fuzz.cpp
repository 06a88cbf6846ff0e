// Whatever a client sends, the routes make a plan, and every plan that is meant to be HTTP has a head that a client can
// read: nothing in a request can break out of a header or a length. Bodies that are made while they are sent are as
// long as was promised, however they are cut and whatever the clock says.
// covers: target/routes.cpp target/route_accounts.cpp target/route_delays.cpp target/route_faults.cpp target/plan.h
// covers: target/route_inspection.cpp target/request.h target/request.cpp target/reply_stream.h
// covers: target/reply_stream.cpp target/reply_text.cpp target/json_text.cpp
#include <array>
#include <atomic>
#include <string_view>

#include "base/fuzzing.h"
#include "protocol/http1_request.h"
#include "protocol/http1_response.h"
#include "target/reply_stream.h"
#include "target/routes.h"

namespace {

using muster::base::require;
using muster::protocol::ParseState;
using muster::target::Ending;
using muster::target::Plan;
using muster::target::Request;

struct Sink : muster::protocol::Http1RequestSink {
  Request request;
  void on_request(std::string_view method, std::string_view target) { request.begin(method, target); }
  void on_header(std::string_view name, std::string_view value) { request.add_header(name, value); }
  void on_body(std::string_view part) {
    request.body += part;
    request.body_bytes += part.size();
  }
};

// The first pieces of the reply as a client would read them.
void check(const Plan& plan, bool head_request) {
  const muster::target::Limits limits;
  muster::protocol::Http1ResponseParser parser(limits.http);
  parser.reset(head_request);
  muster::protocol::Http1ResponseSink ignored;
  require(plan.inserts_at() <= plan.head() && plan.head() <= plan.bytes().size());
  require(plan.delay >= muster::base::Duration::zero() && plan.delay <= limits.max_delay);
  ParseState state = parser.feed(plan.bytes(), ignored).state;
  require(state != ParseState::kError || parser.error() == muster::protocol::Http1Error::kBodyTooLarge);
  muster::target::ReplyStream stream;
  const muster::base::Instant begin{};
  stream.start(plan, begin);
  std::array<char, 4096> piece;
  // The first half of the looks falls into the time of a drip, the other half is after it.
  constexpr int kLooks = 24;
  for (int i = 0; i < kLooks && !stream.done() && state == ParseState::kNeedMore; ++i) {
    const muster::base::Instant now = begin + plan.drip / (kLooks / 2) * i;
    const std::size_t room = i % 3 == 0 ? 64 : piece.size();
    const std::size_t size = stream.produce(piece.data(), room, now);
    require(size <= room && (size > 0 || plan.drip > muster::base::Duration::zero()));
    if (plan.filler > 0 && !stream.done()) require(stream.next_due(now) > now);
    const auto fed = parser.feed({piece.data(), size}, ignored);
    require(fed.state != ParseState::kError && fed.consumed == size);
    state = fed.state;
  }
  if (stream.done() && plan.filler > 0) require(state == ParseState::kComplete || plan.ending != Ending::kKeep);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const muster::target::Limits limits;
  muster::protocol::Http1RequestParser parser(limits.http);
  muster::base::Random random(1);
  std::atomic<std::uint64_t> counter{0};
  muster::target::RouteState state{random, counter, limits};
  std::string_view bytes = muster::base::text_of(data, size);
  Sink sink;
  Plan plan;
  while (!bytes.empty()) {
    parser.reset();
    const auto fed = parser.feed(bytes, sink);
    bytes.remove_prefix(fed.consumed);
    plan.clear();
    if (fed.state == ParseState::kNeedMore) break;
    if (fed.state == ParseState::kError) {
      plan_refusal(parser.error(), sink.request.method().empty(), plan);
      check(plan, false);
      break;
    }
    sink.request.http_1_0 = parser.http_1_0();
    sink.request.keep_alive = parser.keep_alive();
    plan_reply(muster::target::find_route(sink.request.path()), sink.request, state, plan);
    if (plan.inserts_at() != 0) check(plan, sink.request.method() == "HEAD");
  }
  return 0;
}
