#include "sim/invariants.h"

#include <algorithm>

namespace muster::sim {

std::span<const Invariant> invariants() {
  static constexpr Invariant kInvariants[] = {
      {"1", "leadership", "E", "At most one leader per group and term."},
      {"2", "leadership", "E", "Term and vote never go back over a restart, and are on disk before they are told."},
      {"3", "leadership", "E", "Every leader had the votes of a majority of the configured members."},
      {"4", "leadership", "F", "A connected majority elects within a bound though the rest stays broken."},
      {"5", "leadership", "E", "A minority dispatches and acknowledges nothing."},
      {"6", "leadership", "E", "The quorum is a majority of the configured members, not of the living."},
      {"raft-timing", "leadership", "E", "Time-outs lie between T and 2T, and who hears a leader elects no other."},
      {"raft-pre-vote", "leadership", "E", "A pre-vote changes nothing at its receiver."},
      {"raft-stranger", "leadership", "E", "A message from outside every configuration changes nothing."},
      {"raft-transfer", "leadership", "E", "Leadership goes to a living voter, and nothing is accepted meanwhile."},
      {"raft-members", "leadership", "E",
       "Members change one at a time, caught up; only voters ask for votes, and a removed leader goes."},
      {"raft-standing", "leadership", "E",
       "Nobody gives up a role without a reason; the owner is told every change, and that the log is current."},
      {"7", "fences", "E", "A worker's accepted token per job never falls."},
      {"8", "fences", "E", "Leases of one key are disjoint in true time while clocks drift within 1 %."},
      {"9", "fences", "E", "No effect under a superseded token."},
      {"10", "fences", "E", "A lease's validity is checked at the effect, not only before."},
      {"11", "fences", "E", "Tokens issued strictly rise over changes of leader and restarts."},
      {"log-kept", "log", "E",
       "A committed entry is never lost, replaced or reordered, and what is told to be on disk is there."},
      {"log-equal", "log", "E", "Applied state is equal at equal index."},
      {"log-acknowledged", "log", "E", "What was acknowledged is committed."},
      {"log-restart", "log", "F", "What was acknowledged survives a restart of everybody."},
      {"log-read", "log", "E", "A confirmed read misses nothing that was acknowledged before it began."},
      {"log-progress", "log", "F", "A healthy core commits new entries though the rest stays broken."},
      {"provision-once", "log", "E", "No core is provisioned twice by any interleaving of proposers."},
      {"12", "jobs", "E", "A completion counts once, and is told with all that it left."},
      {"13", "jobs", "E", "A repeated submit gives the same job."},
      {"14", "jobs", "F", "No acknowledged job is lost."},
      {"15", "jobs", "F", "Every acknowledged job ends."},
      {"16", "jobs", "E", "Transitions are legal, and terminal states are final."},
      {"17", "jobs", "E", "Totals shown never fall."},
      {"18", "jobs", "F", "Replicas of counters agree after heal and equal the truth."},
      {"bodies", "log", "E", "What the log names is on a majority's disks, and what is run is on its worker's."},
      {"part-once", "jobs", "E", "A part runs once at a time, where clocks can be trusted."},
      {"failed-cause", "jobs", "E", "A job fails, or is cancelled, only for a cause that the truth knows."},
      {"cores", "jobs", "E/F", "No core runs two parts, and all cores are free at the end."},
      {"layers", "jobs", "E", "Layer n + 1 never begins before a quorum holds layer n."},
      {"cancelled", "jobs", "F",
       "Nothing of a job that was cancelled, or given up by the gates, runs after the grace."},
      {"draining", "jobs", "E", "A worker that drains takes on nothing new."},
      {"routing", "jobs", "E",
       "A gate offers a job to no unhealthy datacenter, and first to the best of those that may run it."},
      {"limit", "jobs", "E/F", "A job's time limit counts on when another manager leads it."},
      {"19", "membership", "E", "Only a node raises its own incarnation."},
      {"20", "membership", "F", "Views converge to the truth within a bound."},
      {"21", "membership", "S", "No healthy node is held dead by a healthy one at up to 5 % loss."},
      {"22", "membership", "S", "Every crash is detected by all within time-out and dissemination."},
      {"23", "membership", "E/F", "The health score stays in bounds and returns to 0."},
      {"24", "membership", "F", "A reachable node that refutes is not dead for ever."},
      {"25", "membership", "E", "Datagrams have at most 1400 bytes, and updates are sent no oftener than the limit."},
      {"state-order", "membership", "E", "What a node said of itself is never replaced by something older."},
      {"life-order", "membership", "E", "Alive needs a higher incarnation, suspect and dead at least the same."},
      {"suspicion", "membership", "E",
       "Nobody is held dead but by a suspicion that lasted at least its shortest time."},
      {"audit", "membership", "E", "The audit log holds the latest events, and no more than it may."},
      {"26", "resources", "E", "Circuits change state legally and keep the half-open quota."},
      {"27", "resources", "E", "Queues and extensions are bounded, and shedding never drops acknowledged work."},
      {"28", "resources", "E", "Control traffic is never shed before job traffic."},
      {"29", "resources", "E/S", "Equal views give the same owner, and one change moves about 1/n of the keys."},
      {"30", "determinism", "E", "The same seed gives the same trace, and corrupt input never crashes a node."},
      {"time", "determinism", "E", "Time goes on: no burst of events without end at one instant."},
      {"register", "kernel", "E", "The simulator's own check: what a node said it keeps is kept over its crashes."},
  };
  return kInvariants;
}

const Invariant* find_invariant(std::string_view name) {
  const std::span<const Invariant> all = invariants();
  const auto found = std::ranges::find(all, name, &Invariant::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace muster::sim
