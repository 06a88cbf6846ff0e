#include "report/command_output.h"

#include <utility>

#include "report/points_output.h"

namespace muster::report {

OutputKind command_output() {
  return {.name = "command",
          .doc = "the same JSON lines as ndjson to the standard input of a shell command, while the run goes on",
          .make = [](std::string argument) -> base::Expected<std::unique_ptr<Output>> {
            if (argument.find_first_not_of(" \t\n") == std::string::npos) {
              return base::fail("--out command needs a shell command; write --out command='CMD'");
            }
            return points_output(ndjson_format(), lines_to_command(std::move(argument)));
          },
          .argument = "CMD",
          .argument_doc = "what a shell understands; what it prints goes to standard error",
          .example = R"(command='jq -c "select(.type == \"workflow\") | [.second, .rate, .p95_us]"')"};
}

}  // namespace muster::report
