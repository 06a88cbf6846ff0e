// Which jobs get cores next: in the order of their acceptance, none overtaking one that waits for cores. Every manager
// sees the same queue and reserves what jobs ahead want, whoever leads them; the ledger settles what remains of races.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "cluster/commands.h"
#include "cluster/ledger.h"
#include "cluster/provisioner.h"

namespace muster::cluster {

// The provisions to propose now, for jobs that `self` leads. `under_way` are those that it has proposed already; `pool`
// holds the cores of each worker. Looks at jobs from the head of the queue until cores run out.
std::vector<Provision> feed(const Ledger& ledger, const Process& self, std::vector<Candidate> candidates,
                            const std::vector<std::uint32_t>& pool, const std::vector<const Provision*>& under_way,
                            base::Random& random);

}  // namespace muster::cluster
