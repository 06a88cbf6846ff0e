// A configuration tree as JSON text.
#pragma once

#include <string>

#include "model/tree.h"

namespace muster::engine {

std::string json_text(const model::Tree& tree);

}  // namespace muster::engine
