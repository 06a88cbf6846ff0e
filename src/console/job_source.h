// From the command line to a checked Job: a YAML file, or flags such as --url that are written as YAML first, so that
// there is one loader and one plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "authoring/loader.h"
#include "base/error.h"
#include "engine/engine.h"
#include "model/job.h"

namespace muster::console {

struct JobFlags {
  std::string command = "run";  // of muster, for messages
  std::string file;
  std::string url;
  std::string target;  // overrides the job's default target
  std::optional<std::uint64_t> vus;
  std::optional<std::uint64_t> max_vus;
  std::string duration;
  std::optional<std::uint64_t> iterations;
  std::string rate;
  std::string warm_up;
  std::string grace;
  std::string method;
  std::vector<std::string> headers;
  std::string body;   // @FILE: the file's bytes
  std::string basic;  // user:password
  std::string timeout;
  bool insecure = false;
  bool no_keep_alive = false;
  bool no_redirects = false;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> environment;  // KEY=VALUE
  std::vector<std::string> sets;         // path=value
  std::vector<std::string> arguments;    // after `--`: for a script's `init`
};

// Whether the file is a Lua script; with an address beside it, one written for wrk.
inline bool is_script(const JobFlags& flags) {
  return flags.file.ends_with(".lua");
}

// The YAML text of what --url and its companions ask for, after check_job_flags().
std::string url_job_text(const JobFlags& flags);

// Each problem by itself; those of flags have no place. Secrets among the flags are hidden (typed_secrets.h).
std::expected<model::Job, authoring::Problems> load_or_explain(const JobFlags& flags, const engine::Registry& registry);

// Errors are ready to print, one or more lines, and mean exit code 2.
base::Expected<model::Job> load(const JobFlags& flags, const engine::Registry& registry);

// Standard output is for something that machines read: what the job's script prints goes to standard error.
void keep_standard_output(model::Job& job);

}  // namespace muster::console
