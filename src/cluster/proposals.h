// The proposals of one manager. Owned by the manager.
#pragma once

#include <span>

#include "cluster/commands.h"
#include "cluster/log_proposals.h"
#include "cluster/options.h"

namespace muster::cluster {

Subject subject_of(const Command& command);
// The bodies that it names.
std::span<const BodyRef> named_by(const Command& command);

extern template class LogProposals<Entry, ManagerOptions>;
using Proposals = LogProposals<Entry, ManagerOptions>;

}  // namespace muster::cluster
