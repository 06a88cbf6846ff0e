// What must be known of a file's bytes before yaml-cpp sees them, because it guesses encodings and is vague about tabs.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "authoring/loader_reporter.h"

namespace muster::authoring {

// Reports and returns false unless `text` is UTF-8 without control characters and without tabs in its indentation.
bool check_text(std::string_view text, const std::shared_ptr<const std::string>& file, Reporter& reporter);

}  // namespace muster::authoring
