// The bytes of membership messages: a version, the group, the kind, its fields, then claims to the end. Equal messages
// have equal bytes; decoding is bounded, refuses whatever encoding cannot have made, and copies no text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cores/swim_messages.h"

namespace muster::cores {

constexpr std::uint8_t kSwimVersion = 1;

// What a packet said, and in which group.
struct SwimPacket {
  std::uint64_t group = 0;
  SwimMessage message;
};

// Views in the result point into `bytes`.
base::Expected<SwimPacket> decode_swim(std::string_view bytes);

// The beginning of a message: everything but its claims. An exchange's view is among these.
std::string encode_swim_body(std::uint64_t group, const SwimBody& body);

// One claim, appended as gossip says it, to a message of any kind but Exchange, or as a view says it, to an Exchange.
// Its values must be such as decoding accepts.
void append_rumour(std::string& out, const Claim& claim);
void append_view_entry(std::string& out, const Claim& claim);

std::string encode_swim(const SwimPacket& packet);

}  // namespace muster::cores
