// Flags from the environment: MUSTER_CORES=4 is --cores 4 of whatever command has that flag. What is typed wins. Only
// the command that was called looks, so that a variable meant for one cannot break another.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace muster::console {

// Before the parsing. Flags that say what to load rather than how (configurable(false)) are left out: a forgotten
// variable must not change what a test is.
void take_environment(CLI::App& app, int argc, const char* const* argv);

// " (from MUSTER_CORES)" if `message`, of an error in parsing for `command`, is about a value that came from there.
std::string blamed_variable(const CLI::App& command, const std::string& message, int argc, const char* const* argv);

}  // namespace muster::console
