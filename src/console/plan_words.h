// How a plan is put into words: times as one writes them in YAML, load shapes as sentences, steps by their descriptors.
// Knows no protocol. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "console/plan.h"
#include "engine/load_shape.h"
#include "model/job.h"
#include "model/step_kind.h"

namespace muster::console {

// "1m30s", "300ms", exactly; "0s".
std::string spelled(base::Duration duration);

// "1 VU", "1,000 VUs".
std::string counted(std::uint64_t number, std::string_view singular, std::string_view plural);

// Names of what is never shown, each once: several may come from the command line.
std::vector<std::string> secret_names(const model::Job& job);

// What the load is over time, then what else is set about it, a clause each.
std::vector<std::string> load_words(const model::Load& load, const engine::LoadShape& shape);

// What a step does: "POST /login", "think 1s..3s", "repeat 3".
std::string step_action(const model::Step& step, const model::StepKinds& kinds);
// What else the user said about it: "timeout 5s", "json", "2 checks", "saves token".
std::vector<std::string> step_details(const model::Step& step, const model::StepKinds& kinds);
// Of a control step's branch: "then", "90%"; empty where there is nothing to tell them apart by.
std::string branch_label(const model::Step& step, const model::Branch& branch);

}  // namespace muster::console
