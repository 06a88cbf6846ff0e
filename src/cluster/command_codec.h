// The bytes of entries of the managers' log: a version, the proposal, the kind of command, its fields. Equal entries
// have equal bytes. Decoding trusts nothing: an entry forwarded by a peer is decoded before it is proposed.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "cluster/commands.h"

namespace muster::cluster {

// Rises with every change once there is a release; until then no log outlives its program.
constexpr std::uint8_t kCommandVersion = 1;

// Appends to `out`. Texts and lists beyond their limits lose their end.
void encode(const Entry& entry, std::string& out);

// All of `bytes` must be one entry.
base::Expected<Entry> decode_entry(std::string_view bytes);

}  // namespace muster::cluster
