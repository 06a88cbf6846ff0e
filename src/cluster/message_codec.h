// The bytes of messages between nodes: a version, the number of the message, its fields. Equal messages have equal
// bytes. Decoding trusts nothing; limits are in options.h.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "cluster/messages.h"

namespace muster::cluster {

constexpr std::uint8_t kMessageVersion = 1;

// Appends to `out`. Texts and lists beyond their limits lose their end.
void encode(const Message& message, std::string& out);

// All of `bytes` must be one message.
base::Expected<Message> decode_message(std::string_view bytes);

}  // namespace muster::cluster
