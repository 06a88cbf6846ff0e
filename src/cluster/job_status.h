// What the ledger says of a job to whoever asks: its state, and those of its workflows. Pure functions, the same at
// every manager.
#pragma once

#include <vector>

#include "cluster/ledger.h"
#include "cluster/messages_job.h"

namespace muster::cluster {

JobState state_of(const LedgerJob& job);
WorkflowStatus status_of(const LedgerJob& job, std::uint32_t workflow);
std::vector<WorkflowStatus> status_of(const LedgerJob& job);

// Whether all its workflows have ended.
bool all_ended(const LedgerJob& job);

// The answer to a repeated submit, a status, a reconnect.
SubmitAnswer answer_of(const Ledger& ledger, JobId id, const LedgerJob& job);

// The final answer to a cancel.
CancelAnswer cancelled(JobId id, const LedgerJob& job);

}  // namespace muster::cluster
