// The keys that a step of any kind has, apart from its kind: check, save, tags, after. Each reader reports what is
// wrong and returns what could be read.
#pragma once

#include <vector>

#include "authoring/loader_context.h"
#include "model/job.h"

namespace muster::authoring {

// A map of path to condition, one expression, or a list of either. A condition may be { that: …, required: true }.
std::vector<model::Check> read_checks(LoaderContext& context, const YamlNode& node);
std::vector<model::Save> read_saves(LoaderContext& context, const YamlNode& node);
std::vector<model::Tag> read_tags(LoaderContext& context, const YamlNode& node);

}  // namespace muster::authoring
