// The bytes of the gates' whole ledger, for snapshots of their log. Equal ledgers have equal bytes. Decoding trusts
// nothing: what could not have come from encoding, or breaks what the ledger guarantees, is refused.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "cluster/gate_ledger.h"

namespace muster::cluster {

constexpr std::uint8_t kGateLedgerVersion = 1;

// Appends to `out`.
void encode(const GateLedger& ledger, std::string& out);

// All of `bytes` must be one ledger.
base::Expected<GateLedger> decode_gate_ledger(std::string_view bytes);

}  // namespace muster::cluster
