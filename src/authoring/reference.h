// The reference of all step kinds as Markdown, made from their descriptors: docs/reference.md is its output, checked
// in, and a test holds the two together.
#pragma once

#include <string>

#include "model/step_kind.h"

namespace muster::authoring {

std::string markdown_reference(const model::StepKinds& kinds);

}  // namespace muster::authoring
