// The bytes of a whole ledger, for snapshots of the log. Equal ledgers have equal bytes. Decoding trusts nothing: what
// could not have come from encoding, or breaks what the ledger guarantees (cores given twice), is refused.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "cluster/ledger.h"

namespace muster::cluster {

// Rises with every change once there is a release; until then no log outlives its program.
constexpr std::uint8_t kLedgerVersion = 1;

// Appends to `out`.
void encode(const Ledger& ledger, std::string& out);

// All of `bytes` must be one ledger.
base::Expected<Ledger> decode_ledger(std::string_view bytes);

}  // namespace muster::cluster
