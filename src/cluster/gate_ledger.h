// What the gates' log says: jobs, who owns them under which epoch, at which datacenters they run, what came of it. A
// replicated state machine: the same entries give the same ledger, and no entry gives a job two owners in one epoch, an
// effect to a superseded one, two results to one workflow, or a run to a datacenter that was given up. It knows no
// time: leases are counted by gate_leases.h. Bounded.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/gate_commands.h"
#include "cluster/gate_options.h"
#include "cluster/ids.h"
#include "cluster/job.h"
#include "cluster/ledger.h"
#include "cluster/tombstones.h"

namespace muster::cluster {

enum class SlotPhase : std::uint8_t {
  kOpen,     // offered to nobody, or the one before said no
  kOffered,  // the datacenter may run it
  kAccepted,
  kEnded,
};
constexpr std::size_t kSlotPhases = 4;

// One datacenter's run of a job.
struct GateSlot {
  SlotPhase phase = SlotPhase::kOpen;
  std::uint32_t offer = 0;  // counts the datacenters that it was offered to
  std::string datacenter;   // the last of them
  RenewalId heard{};        // the job's last renewal that covered the datacenter's lease
  bool lost = false;
  JobState state = JobState::kSubmitted;  // once ended
  std::string reason;
  base::Duration elapsed{};

  bool operator==(const GateSlot&) const = default;
};

struct GateResult {
  std::uint32_t slot = 0;
  std::uint32_t offer = 0;
  std::string datacenter;
  WorkflowStatus status;

  bool operator==(const GateResult&) const = default;
};

struct GateLedgerJob {
  std::uint64_t submitted = 0;  // index of the entry
  ClientId client{};
  Process owner;
  std::uint64_t epoch = 1;
  RenewalId renewal{};  // the last grant or renewal of the lease
  BodyRef bundle;
  JobOutline outline;
  std::vector<std::string> datacenters;
  bool exact = false;  // at those named and nowhere else
  bool reroute = false;
  std::uint32_t reroutes = 0;
  std::vector<GateSlot> slots;
  std::vector<GateResult> results;     // in the order in which they came: clients count them
  std::vector<std::string> abandoned;  // datacenters that may run it but must not, ascending
  std::optional<JobCancelled> cancel;
  std::optional<JobState> end;
  bool acknowledged = false;

  bool operator==(const GateLedgerJob&) const = default;
};

// Whether this workflow's end at this run of the job is already there.
bool received(const GateLedgerJob& job, std::uint32_t slot, std::uint32_t offer, std::uint32_t workflow);
// How many workflows have ended at this run of the job, as far as the log has heard.
std::size_t results_of(const GateLedgerJob& job, std::uint32_t slot, std::uint32_t offer);
// Whether a slot may be offered to this datacenter: no other slot runs there, and it was not given up.
bool may_offer(const GateLedgerJob& job, const std::string& datacenter);
// How a job ends whose slots have all ended.
JobState end_of(const GateLedgerJob& job);

class GateLedger {
 public:
  // Indexes rise by one or more from call to call; an index already applied is ignored (kRepeated).
  Verdict apply(std::uint64_t index, const GateEntry& entry);

  std::uint64_t index() const { return index_; }  // of the last entry applied

  const std::map<JobId, GateLedgerJob>& jobs() const { return jobs_; }
  const GateLedgerJob* job(JobId id) const;
  const Tombstone* tombstone(JobId id) const;
  // The bodies that it names, bundles of jobs that have not ended and results, and how often.
  const std::map<BodyRef, std::uint32_t>& bodies() const { return bodies_; }
  std::size_t free_results() const { return kMaxGateResults - reserved_; }

  // Equal ledgers have equal bytes (gate_ledger_codec.h) and equal digests.
  std::uint64_t digest() const;
  bool operator==(const GateLedger&) const = default;

 private:
  friend class GateLedgerCodec;
  friend class GateLedgerRules;

  void name_body(const BodyRef& body);
  void drop_body(const BodyRef& body);
  void name_results(const GateResult& result);

  std::uint64_t index_ = 0;
  std::map<JobId, GateLedgerJob> jobs_;
  Tombstones tombstones_;
  std::deque<RefusedProposal> refused_;  // submissions, oldest first

  // Derived from the above.
  std::map<BodyRef, std::uint32_t> bodies_;
  std::size_t reserved_ = 0;       // results that jobs have or can bring
  std::size_t outline_bytes_ = 0;  // of all jobs
  std::size_t result_bodies_ = 0;  // references in results
};

}  // namespace muster::cluster
