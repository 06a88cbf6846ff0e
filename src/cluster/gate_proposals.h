// The proposals of one gate. Owned by the gate.
#pragma once

#include <span>

#include "cluster/gate_commands.h"
#include "cluster/gate_options.h"
#include "cluster/log_proposals.h"

namespace muster::cluster {

Subject subject_of(const GateCommand& command);
// The bodies that it names.
std::span<const BodyRef> named_by(const GateCommand& command);

extern template class LogProposals<GateEntry, GateOptions>;
using GateProposals = LogProposals<GateEntry, GateOptions>;

}  // namespace muster::cluster
