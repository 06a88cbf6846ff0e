// Whatever decodes keeps within its limits and encodes to the very bytes it came from. A node that is fed with the same
// bytes from a stranger stays within its bounds, says nothing longer than a datagram, and keeps its own name alive.
// covers: cores/swim_codec.cpp
#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "base/fuzzing.h"
#include "cores/swim.h"
#include "cores/swim_codec.h"

namespace muster::cores {
namespace {

using base::require;

void check(const Claim& claim) {
  const bool accuses = claim.status == MemberStatus::kSuspect || claim.status == MemberStatus::kDead;
  require(claim.node != base::kNoNode && claim.incarnation <= kMaxIncarnation);
  require(!accuses || claim.incarnation < kMaxIncarnation);
  require(claim.state.bytes.size() <= kMaxMemberState && claim.state.incarnation <= claim.incarnation);
}

void feed(std::string_view input) {
  base::Instant now{std::chrono::hours(1)};
  Swim node({.id = base::NodeId{1}, .address = ipv4_endpoint(1, 1), .incarnation = 3, .state = "me"}, swim_lan(), 7,
            now);
  const std::uint64_t before = node.incarnation();
  for (const SwimChannel channel : {SwimChannel::kDatagram, SwimChannel::kStream}) {
    node.receive(base::NodeId{2}, ipv4_endpoint(2, 2), channel, input, now);
    now = std::min(node.deadline(), now + std::chrono::seconds(1));
    node.wake(now);
    for (const SwimSend& send : node.take().sends) {
      require(send.bytes.size() <= (send.channel == SwimChannel::kDatagram ? kMaxSwimPayload : kMaxExchangeBytes));
      require(decode_swim(send.bytes).has_value());
    }
  }
  require(node.incarnation() >= before && node.incarnation() <= kMaxIncarnation);
  require(node.members().get(node.id()) == nullptr && node.members().size() <= kMaxMembers);
  require(node.score() <= LocalHealth::kMaxScore);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = base::text_of(data, size);
  const auto packet = decode_swim(input);
  feed(input);
  if (!packet) {
    require(!packet.error().message.empty());
    return 0;
  }
  for (const Claim& claim : packet->message.claims) check(claim);
  if (const auto* exchange = std::get_if<Exchange>(&packet->message.body)) {
    require(packet->message.claims.empty());
    for (const Claim& claim : exchange->view) check(claim);
  }
  require(encode_swim(*packet) == input);
  return 0;
}

}  // namespace muster::cores
