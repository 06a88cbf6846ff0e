// What the machines of a manager work with during one call: the ledger to read, the time, and where to put proposals
// and effects. Made by the manager for each call; machines keep nothing of it.
#pragma once

#include "base/random.h"
#include "base/time.h"
#include "cluster/bodies.h"
#include "cluster/effects.h"
#include "cluster/ids.h"
#include "cluster/ledger.h"
#include "cluster/options.h"
#include "cluster/proposals.h"
#include "cluster/worker_table.h"

namespace muster::cluster {

struct Desk {
  const Process& self;
  const ManagerOptions& options;
  HashBody hash;
  const Ledger& ledger;
  Proposals& proposals;
  Bodies& bodies;
  WorkerTable& workers;
  base::Random& random;
  Effects& effects;
  base::Instant now;
  // Since when this manager knows what the log decides. Nothing can have got on before that: limits count from there.
  base::Instant current_since = base::Instant::min();

  void send(NodeId to, Message message) { effects.push_back(Send{to, std::move(message)}); }
  void propose(Command command) { proposals.propose(std::move(command), now, effects); }
  void note(Noted what, const PartId& part, const Fence& fence = {}, NodeId node = kNoNode) {
    effects.push_back(Note{what, part, fence, node});
  }
};

}  // namespace muster::cluster
