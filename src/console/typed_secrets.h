// Secrets that were typed on the command line rather than named in a file: passwords of -u and of addresses, and the
// values of headers that carry credentials. They are treated as those under `secrets:` are.
#pragma once

#include "console/job_source.h"
#include "model/job.h"

namespace muster::console {

// Makes them secrets of the job, and takes the values of all its secrets out of its name and its text, both of which
// are printed, reported and kept. `flags` are as the loader takes them: an address is not among the words for a script.
void hide_secrets(const JobFlags& flags, model::Job& job);

}  // namespace muster::console
