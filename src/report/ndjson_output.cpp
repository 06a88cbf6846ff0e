#include "report/ndjson_output.h"

#include <utility>

#include "report/points_output.h"

namespace muster::report {

OutputKind ndjson_output() {
  OutputKind kind =
      file_output("ndjson", "every second of the run as JSON lines, while it goes on; a summary line ends it",
                  [](std::string path) { return points_output(ndjson_format(), lines_to_file(std::move(path))); });
  kind.example = "ndjson=points.ndjson";
  return kind;
}

}  // namespace muster::report
