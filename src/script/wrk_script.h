// Scripts that were written for wrk: one state for `setup` and `done`, and one for each core (wrk's thread), in which
// `init`, `delay`, `request` and `response` run. What `request` gives is sent as it is.
#pragma once

#include <memory>

#include "engine/program.h"
#include "engine/script.h"

namespace muster::script {

std::unique_ptr<engine::ScriptProgram> open_wrk(const engine::Program& program);

}  // namespace muster::script
