// What the gates' ledger says of a job, as clients are told. Plain functions.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/gate_ledger.h"
#include "cluster/messages_job.h"

namespace muster::cluster {

JobState state_of(const GateLedgerJob& job);

// One for each slot that a datacenter runs or ran, and for those lost on the way.
std::vector<DatacenterStatus> datacenters_of(const GateLedgerJob& job);

SubmitAnswer answer_of(JobId id, const GateLedgerJob& job);
StatusAnswer status_of(JobId id, const GateLedgerJob& job);

// The index-th result, as the (index + 1)-th that a client sees.
WorkflowEnded result_of(JobId id, const GateLedgerJob& job, std::uint32_t index);
// Only of one that has ended.
JobEnd end_message(JobId id, const GateLedgerJob& job);

}  // namespace muster::cluster
