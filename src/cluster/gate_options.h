// The limits of the gates' log and the times of gates and clients. Limits are constants: every gate must agree on what
// an entry means. Times are options, handed to the brains; those that safety rests on must be the same at all gates.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/time.h"
#include "cluster/options.h"
#include "metrics/options.h"

namespace muster::cluster {

// ---- the gates' ledger ----

// Jobs that it keeps, ended ones that nobody acknowledged included.
constexpr std::size_t kMaxGateJobs = 2000;
// Bytes of the outlines of all jobs together; a usual one has some hundred. All of it is in every snapshot.
constexpr std::size_t kMaxGateOutlineBytes = std::size_t{64} << 20;
// Ends of workflows that it keeps, over all jobs and datacenters. A job is accepted only if there is room for all that
// it can bring, so that no end that arrives is ever turned away.
constexpr std::size_t kMaxGateResults = 65536;
// References to bodies of results, over all jobs. A workflow that ends when it is full is kept without its references.
constexpr std::size_t kMaxGateBodies = 65536;
// Datacenters that a slot of a job is offered to, one after the other, before it fails. Each costs an entry.
constexpr std::uint32_t kMaxOffers = 256;
// Times that a job with `on_dc_loss: reroute` is run anew after the loss of a datacenter, in all.
constexpr std::uint32_t kMaxReroutes = 3;
// Leases renewed by one entry, at 40 bytes each at most: they must fit into a command. A gate with more sends several.
constexpr std::size_t kMaxRenewals = 1000;
// Bytes of the names of a job's datacenters together: with its outline they must fit into a command.
constexpr std::size_t kMaxDatacenterNames = std::size_t{8} << 10;
// Bytes of one encoded ledger: above what the limits let it grow to.
constexpr std::size_t kMaxGateLedgerBytes = std::size_t{256} << 20;

// ---- what a gate or client remembers of others ----

// Nodes that follow one job, and jobs that one client follows. The oldest follower makes room.
constexpr std::size_t kMaxFollowers = 16;
constexpr std::size_t kMaxFollowed = 256;
// Windows of a job that wait for their time, per datacenter. Beyond it the oldest are handed on early.
constexpr std::size_t kMaxWaitingWindows = 1024;

struct GateOptions {
  // Safety: how long a lease of a job, or of a job's datacenter, lasts unless renewed. Shorter hands over sooner and
  // makes short partitions expensive.
  base::Duration lease = std::chrono::seconds(30);
  // Safety: how far clocks of gates may drift apart, as a share. The holder counts so much less, the others so much
  // more.
  double drift = 0.01;
  // Renewals are sent after this share of the lease.
  std::uint32_t renewals_per_lease = 3;

  // A proposal not applied by then is "quorum time-out" to whoever waits for it. Until then it is proposed again.
  base::Duration quorum_timeout = std::chrono::seconds(5);
  base::Duration repropose = std::chrono::milliseconds(500);

  // An offer, a cancellation or a question to a manager that is not answered is sent again, to the next manager of the
  // datacenter, after this, doubling up to the cap.
  base::Duration call_timeout = std::chrono::milliseconds(500);
  base::Duration call_cap = std::chrono::seconds(5);
  // An offer without an answer for so long falls back to the next datacenter. A datacenter that said no does at once.
  base::Duration offer_patience = std::chrono::seconds(30);
  // When every datacenter has said no they are asked again after this …
  base::Duration offer_round = std::chrono::seconds(5);
  // … until so long after the submission or the loss; then the slot fails.
  base::Duration dispatch_timeout = std::chrono::seconds(300);
  // No datacenter that may be asked is well for so long: the slot fails. Long enough for a gate that has just started
  // to hear of them; at the submission itself none is waited for.
  base::Duration no_datacenter_patience = std::chrono::seconds(10);

  // A result whose bodies cannot be had for so long is taken without them: better than a job that never ends.
  base::Duration result_patience = std::chrono::minutes(5);

  // A submission whose bundle does not arrive or reach a majority by then is given up; the client may repeat it.
  base::Duration submit_timeout = std::chrono::seconds(30);
  // What a client is told to wait for when the ledger is full, or there is no quorum.
  base::Duration retry_after = std::chrono::seconds(5);

  // A window is handed on so long after its end, with what has come by then.
  base::Duration window_close = metrics::kGateWindowDelay;
  // Totals go to followers at most this often.
  base::Duration totals_push = std::chrono::seconds(1);

  // An end is pushed to followers anew until acknowledged.
  base::Duration end_repeat = std::chrono::seconds(2);
  base::Duration cleanup = std::chrono::seconds(30);
  // Ended jobs are forgotten this long after their end once acknowledged, and otherwise after keep_unacknowledged.
  base::Duration keep_completed = std::chrono::minutes(5);
  base::Duration keep_failed = std::chrono::hours(1);
  base::Duration keep_unacknowledged = std::chrono::hours(1);
};

struct ClientOptions {
  // How long a gate may take to answer before the next one is asked.
  base::Duration answer_timeout = std::chrono::seconds(2);
  // Submissions wait for the bundle to be copied: the gate's submit time-out and its quorum's. They are repeated
  // meanwhile, as the same id is the same job.
  base::Duration submit_timeout = std::chrono::seconds(35);
  base::Duration submit_repeat = std::chrono::seconds(5);
  // A followed job that says nothing for so long is asked for; a gate that says nothing at all since a submission came
  // to it is passed over.
  base::Duration silence = std::chrono::seconds(10);
  // How long a lost job is looked for: at least one and a half leases, since a take-over needs one.
  base::Duration search = std::chrono::seconds(60);
};

}  // namespace muster::cluster
