// The Lua front end: runs what stands outside a script's functions once, and makes a job of what it declared. The
// document that its tables describe goes through the same loader as a YAML file, with the same messages.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "authoring/loader.h"
#include "engine/script.h"
#include "model/job.h"

namespace muster::script {

std::expected<model::Job, authoring::Problems> load_lua_job(std::string_view text, const std::string& file_name,
                                                            const authoring::LoadInput& input,
                                                            const authoring::Languages& languages);

// A script that was written for wrk, with the job that the command line's flags describe: its only step sends what the
// script's `request` gives. `settings` and `arguments`: see model::Script.
struct WrkInput {
  std::string job;  // the flags as YAML
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> settings;
};
std::expected<model::Job, authoring::Problems> load_wrk_job(std::string_view text, const std::string& file_name,
                                                            const WrkInput& wrk, const authoring::LoadInput& input,
                                                            const authoring::Languages& languages);

// The language as the engine runs it; `kinds` are those that scripts can declare steps of.
std::shared_ptr<engine::ScriptLanguage> lua(model::StepKinds kinds);

}  // namespace muster::script
