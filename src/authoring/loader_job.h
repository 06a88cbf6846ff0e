// Reads the keys that stand at the top of a file, apart from workflows: targets, data, thresholds, secrets, environment
// and the job's options.
#pragma once

#include <span>
#include <string_view>

#include "authoring/loader_context.h"
#include "model/job.h"

namespace muster::authoring {

// Every key that may stand at the top of a file.
std::span<const std::string_view> job_keys();

// `env` and `secrets`, into the context and `job.secrets`. First of all, because other keys may name them.
void read_environment(LoaderContext& context, const YamlNode& root, model::Job& job);
// The rest; targets also go into the context, where steps look for them.
// False: there were unknown keys, so that what seems to be missing may only be misspelt.
bool read_job_options(LoaderContext& context, const YamlNode& root, model::Job& job);

}  // namespace muster::authoring
